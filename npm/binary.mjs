// What a program file says about the system that it is for.
import { readFileSync } from 'node:fs';

const elfMachines = { 62: 'x64', 183: 'arm64' };
const machOMachines = { 0x01000007: 'x64', 0x0100000c: 'arm64' };
const peMachines = { 0x8664: 'x64', 0xaa64: 'arm64' };
// ET_EXEC and ET_DYN.
const runnableElf = [2, 3];
const MH_EXECUTE = 2;
const PT_INTERP = 3;
const SHT_SYMTAB = 2;
const IMAGE_FILE_EXECUTABLE_IMAGE = 0x0002;
const IMAGE_FILE_DLL = 0x2000;

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
    } else if (magic >>> 16 === 0x4d5a) {
      this.#readPe(this.#bytes.readUInt32LE(60));
    }
  }

  /** Reads the header of a program for Windows, which begins there. */
  #readPe(at) {
    if (at + 24 > this.#bytes.length || this.#bytes.readUInt32BE(at) !== 0x50450000) return;
    const kind = this.#bytes.readUInt16LE(at + 22) & (IMAGE_FILE_EXECUTABLE_IMAGE | IMAGE_FILE_DLL);
    const sectionsAt = at + 24 + this.#bytes.readUInt16LE(at + 20);
    const sections = Array.from({ length: this.#bytes.readUInt16LE(at + 6) }, (_, row) => sectionsAt + 40 * row);
    // A file that was cut has lost the end of a section.
    const isWhole = (section) =>
      section + 40 <= this.#bytes.length &&
      this.#bytes.readUInt32LE(section + 20) + this.#bytes.readUInt32LE(section + 16) <= this.#bytes.length;
    if (kind !== IMAGE_FILE_EXECUTABLE_IMAGE || !sections.every(isWhole)) return;
    this.os = 'win32';
    this.cpu = peMachines[this.#bytes.readUInt16LE(at + 4)];
    this.hasSymbols = this.#bytes.readUInt32LE(at + 12) > 0;
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
