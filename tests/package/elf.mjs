// What a 64-bit little-endian ELF file says about itself.
import { readFileSync } from 'node:fs';

export const ET_DYN = 3;
const PT_DYNAMIC = 2;
export const PT_INTERP = 3;
export const PT_GNU_STACK = 0x6474e551;
export const PT_GNU_RELRO = 0x6474e552;
const STT_FUNC = 2;
const STT_GNU_IFUNC = 10;
export const PF_X = 1;
export const PF_WX = 3;
export const DT_FLAGS_1 = 0x6ffffffbn;
export const DF_1_NOW = 1n;
export const DF_1_PIE = 0x08000000n;

export class Elf {
  #bytes;

  constructor(path) {
    this.#bytes = readFileSync(path);
    if (this.#bytes.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') {
      throw new Error(`${path} is not a 64-bit little-endian ELF file`);
    }
    this.type = this.#bytes.readUInt16LE(16);
    this.segments = this.#table(32, 54, (at) => ({
      type: this.#bytes.readUInt32LE(at),
      flags: this.#bytes.readUInt32LE(at + 4),
      offset: this.#word(at + 8),
      address: this.#word(at + 16),
      fileSize: this.#word(at + 32),
      size: this.#word(at + 40),
    }));
    const sections = this.#table(40, 58, (at) => ({
      nameAt: this.#bytes.readUInt32LE(at),
      type: this.#bytes.readUInt32LE(at + 4),
      address: this.#word(at + 16),
      offset: this.#word(at + 24),
      size: this.#word(at + 32),
      link: this.#bytes.readUInt32LE(at + 40),
    }));
    const names = sections[this.#bytes.readUInt16LE(62)];
    this.sections = sections.map((section) => ({
      name: this.#text(names.offset + section.nameAt),
      ...section,
    }));
  }

  segment(type) {
    return this.segments.find((segment) => segment.type === type);
  }

  section(name) {
    return this.sections.find((section) => section.name === name);
  }

  /** The value of an entry of the dynamic section, or 0. */
  dynamic(tag) {
    const { offset, fileSize } = this.segment(PT_DYNAMIC) ?? { offset: 0, fileSize: 0 };
    for (let at = offset; at < offset + fileSize; at += 16) {
      if (this.#bytes.readBigInt64LE(at) === tag) return this.#bytes.readBigUInt64LE(at + 8);
    }
    return 0n;
  }

  /** The bytes of a section. */
  contents(name) {
    const { offset, size } = this.section(name);
    return this.#bytes.subarray(offset, offset + size);
  }

  /** The functions that the symbols name: {name, address, size}. */
  functions() {
    const { offset, size, link } = this.section('.symtab');
    const strings = this.sections[link].offset;
    return Array.from({ length: size / 24 }, (_, index) => offset + index * 24)
      .filter((at) => [STT_FUNC, STT_GNU_IFUNC].includes(this.#bytes[at + 4] & 15))
      .map((at) => ({
        name: this.#text(strings + this.#bytes.readUInt32LE(at)),
        address: this.#word(at + 8),
        size: this.#word(at + 16),
      }));
  }

  /** The code of a function. The function may come from the separate file of symbols. */
  code({ address, size }) {
    const text = this.section('.text');
    const at = text.offset + address - text.address;
    return this.#bytes.subarray(at, at + size);
  }

  #table(offsetAt, sizeAt, row) {
    const start = this.#word(offsetAt);
    const size = this.#bytes.readUInt16LE(sizeAt);
    const count = this.#bytes.readUInt16LE(sizeAt + 2);
    return Array.from({ length: count }, (_, index) => row(start + index * size));
  }

  #word(at) {
    return Number(this.#bytes.readBigUInt64LE(at));
  }

  #text(at) {
    return this.#bytes.toString('latin1', at, this.#bytes.indexOf(0, at));
  }
}
