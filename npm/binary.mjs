// What a program file says about the system that it is for.
import { readFileSync } from 'node:fs';

const elfMachines = { 62: 'x64', 183: 'arm64' };
const machOMachines = { 0x01000007: 'x64', 0x0100000c: 'arm64' };
const PT_INTERP = 3;
const SHT_SYMTAB = 2;

export class Binary {
  #bytes;

  constructor(path) {
    this.#bytes = readFileSync(path);
    const magic = this.#bytes.length < 64 ? 0 : this.#bytes.readUInt32BE(0);
    if (magic === 0x7f454c46 && this.#bytes.readUInt16BE(4) === 0x0201) {
      // The last table ends the file. A file that was cut has lost it, and is no program.
      if (this.#end(40, 58) > this.#bytes.length) return;
      this.os = 'linux';
      this.cpu = elfMachines[this.#bytes.readUInt16LE(18)];
      // A dynamic program names its loader.
      this.isStatic = !this.#types(32, 54).includes(PT_INTERP);
      this.hasSymbols = this.#types(40, 58, 4).includes(SHT_SYMTAB);
    } else if (magic === 0xcffaedfe) {
      this.os = 'darwin';
      this.cpu = machOMachines[this.#bytes.readUInt32LE(4)];
    }
  }

  /** Whether this is a text of the program, with its end. */
  holds(text) {
    return this.#bytes.includes(`${text}\0`);
  }

  /** Where a table of an ELF file ends. */
  #end(offsetAt, sizeAt) {
    const size = this.#bytes.readUInt16LE(sizeAt) * this.#bytes.readUInt16LE(sizeAt + 2);
    return Number(this.#bytes.readBigUInt64LE(offsetAt)) + size;
  }

  /** The types of the rows of a table of an ELF file. */
  #types(offsetAt, sizeAt, typeAt = 0) {
    const start = Number(this.#bytes.readBigUInt64LE(offsetAt));
    const size = this.#bytes.readUInt16LE(sizeAt);
    const count = this.#bytes.readUInt16LE(sizeAt + 2);
    return Array.from({ length: count }, (_, row) => this.#bytes.readUInt32LE(start + row * size + typeAt));
  }
}
