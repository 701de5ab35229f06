// What a 64-bit program for Windows says about itself ("PE Format" in Microsoft's documentation).
import { readFileSync } from 'node:fs';

const PE32_PLUS = 0x20b;
const DIRECTORY_IMPORT = 1;
const DIRECTORY_RESOURCE = 2;
const DIRECTORY_DELAY_IMPORT = 13;
export const RT_VERSION = 16;
export const RT_MANIFEST = 24;
export const HIGH_ENTROPY_VA = 0x20;
export const DYNAMIC_BASE = 0x40;
export const NX_COMPAT = 0x100;

export class Pe {
  #bytes;
  #directories;
  #sections;

  constructor(path) {
    this.#bytes = readFileSync(path);
    const header = this.#number(60);
    const optional = header + 24;
    if (this.#bytes.readUInt16LE(optional) !== PE32_PLUS) throw new Error(`${path} is no 64-bit program for Windows`);
    this.hasSymbols = this.#number(header + 12) > 0;
    this.flags = this.#bytes.readUInt16LE(optional + 70);
    this.#directories = Array.from({ length: this.#number(optional + 108) }, (_, row) => {
      return { address: this.#number(optional + 112 + 8 * row), size: this.#number(optional + 116 + 8 * row) };
    });
    const first = optional + this.#bytes.readUInt16LE(header + 20);
    this.#sections = Array.from({ length: this.#bytes.readUInt16LE(header + 6) }, (_, row) => {
      const at = first + 40 * row;
      return { address: this.#number(at + 12), size: this.#number(at + 16), offset: this.#number(at + 20) };
    });
  }

  /** The libraries that it needs, in lower case, also those that are loaded with their first use. */
  libraries() {
    return [
      ...this.#names(DIRECTORY_IMPORT, { row: 20, name: 12 }),
      ...this.#names(DIRECTORY_DELAY_IMPORT, { row: 32, name: 4 }),
    ].sort();
  }

  /** The bytes of the first resource of a type. */
  resource(type) {
    const start = this.#at(this.#directories[DIRECTORY_RESOURCE].address);
    const rows = (at) => {
      const count = this.#bytes.readUInt16LE(at + 12) + this.#bytes.readUInt16LE(at + 14);
      return Array.from({ length: count }, (_, row) => at + 16 + 8 * row);
    };
    // A row is an id and where the next table is: of the types, of the names, of the languages.
    const below = (row) => start + (this.#number(row + 4) & 0x7fffffff);
    const names = below(rows(start).find((row) => this.#number(row) === type));
    const entry = below(rows(below(rows(names)[0]))[0]);
    const at = this.#at(this.#number(entry));
    return this.#bytes.subarray(at, at + this.#number(entry + 4));
  }

  /** The names in a table of libraries, which ends with a row of zeros. */
  #names(directory, { row, name }) {
    const { address } = this.#directories[directory];
    const found = [];
    for (let at = address && this.#at(address); at && this.#number(at + name); at += row) {
      const text = this.#at(this.#number(at + name));
      found.push(this.#bytes.toString('latin1', text, this.#bytes.indexOf(0, text)).toLowerCase());
    }
    return found;
  }

  /** Where in the file an address of the loaded program is. */
  #at(address) {
    const section = this.#sections.find((each) => address >= each.address && address < each.address + each.size);
    return address - section.address + section.offset;
  }

  #number(at) {
    return this.#bytes.readUInt32LE(at);
  }
}
