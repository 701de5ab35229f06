// What a program file says about the system that it is for.
import { readFileSync } from 'node:fs';

const elfMachines = { 62: 'x64', 183: 'arm64' };
const machOMachines = { 0x01000007: 'x64', 0x0100000c: 'arm64' };
// ET_EXEC and ET_DYN.
const runnableElf = [2, 3];
const MH_EXECUTE = 2;
const PT_INTERP = 3;
const SHT_SYMTAB = 2;

export class Binary {
  #bytes;

  constructor(path) {
    this.#bytes = readFileSync(path);
    const magic = this.#bytes.length < 64 ? 0 : this.#bytes.readUInt32BE(0);
    if (magic === 0x7f454c46 && this.#bytes.readUInt16BE(4) === 0x0201) {
      if (!runnableElf.includes(this.#bytes.readUInt16LE(16))) return;
      // The last table ends the file. A file that was cut has lost it, and is no program.
      if (this.#end(32, 54) > this.#bytes.length || this.#end(40, 58) > this.#bytes.length) return;
      this.os = 'linux';
      this.cpu = elfMachines[this.#bytes.readUInt16LE(18)];
      // A dynamic program names its loader.
      this.isStatic = !this.#types(32, 54).includes(PT_INTERP);
      this.hasSymbols = this.#types(40, 58, 4).includes(SHT_SYMTAB);
    } else if (magic === 0xcffaedfe && this.#bytes.readUInt32LE(12) === MH_EXECUTE) {
      this.os = 'darwin';
      this.cpu = machOMachines[this.#bytes.readUInt32LE(4)];
    }
  }

  /** Whether a text of the program ends with this version. */
  holds(version) {
    const isPart = (at) => /[\d.]/.test(String.fromCharCode(this.#bytes[at - 1]));
    let at = this.#bytes.indexOf(`${version}\0`);
    while (at > 0 && isPart(at)) at = this.#bytes.indexOf(`${version}\0`, at + 1);
    return at > 0;
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
