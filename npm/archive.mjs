// Archives whose bytes depend only on the files in them: .tar.gz and, for Windows, .zip. The programs of the systems that
// pack them differ in their options.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const BLOCK = 512;
// The time that npm gives to each file of a package.
const WRITTEN_AT = new Date(Date.UTC(1985, 9, 26, 8, 15));
const UNKNOWN_SYSTEM = 255;

/** A folder and all that is in it, by names that begin with that of the folder. A folder has no bytes. */
function* entries(parent, name) {
  const path = join(parent, name);
  const status = statSync(path);
  if (status.isDirectory()) {
    yield { name: `${name}/`, mode: 0o755 };
    for (const each of readdirSync(path).sort()) yield* entries(parent, `${name}/${each}`);
  } else {
    yield { name, mode: status.mode & 0o100 ? 0o755 : 0o644, bytes: readFileSync(path) };
  }
}

function tarHeader({ name, mode, bytes }) {
  if (Buffer.byteLength(name) > 100) throw new Error(`the name is too long for an archive: ${name}`);
  const block = Buffer.alloc(BLOCK);
  const put = (at, text) => block.write(text, at);
  const octal = (at, length, number) => put(at, number.toString(8).padStart(length - 1, '0'));
  put(0, name);
  octal(100, 8, mode);
  octal(108, 8, 0);
  octal(116, 8, 0);
  octal(124, 12, bytes?.length ?? 0);
  octal(136, 12, WRITTEN_AT / 1000);
  put(148, ' '.repeat(8));
  put(156, bytes ? '0' : '5');
  put(257, 'ustar\x0000');
  octal(148, 7, block.reduce((sum, byte) => sum + byte, 0));
  return block;
}

/** The .tar.gz archive of a folder, whose name begins each name in it. */
export function tarOf(parent, folder) {
  const blocks = [...entries(parent, folder)].flatMap((entry) => {
    const { bytes = Buffer.alloc(0) } = entry;
    return [tarHeader(entry), bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))];
  });
  const packed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
  // The header of gzip names the system that has packed the file.
  packed[9] = UNKNOWN_SYSTEM;
  return packed;
}

/** What the header of a file in a .zip archive and its row in the list at the end have in common. */
function zipFields(name, packed, size) {
  const fields = Buffer.alloc(26);
  const at = WRITTEN_AT;
  fields.writeUInt16LE(20, 0); // the version that can unpack it
  fields.writeUInt16LE(8, 4); // deflated
  fields.writeUInt16LE((at.getUTCHours() << 11) | (at.getUTCMinutes() << 5), 6);
  fields.writeUInt16LE(((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(), 8);
  // gzip ends with the checksum and the size that .zip has in its headers.
  fields.writeUInt32LE(packed.readUInt32LE(packed.length - 8), 10);
  fields.writeUInt32LE(packed.length - 18, 14);
  fields.writeUInt32LE(size, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

/** The .zip archive of a folder, whose name begins each name in it. */
export function zipOf(parent, folder) {
  const files = [...entries(parent, folder)].filter(({ bytes }) => bytes);
  const parts = [];
  const rows = [];
  let size = 0;
  for (const { name, bytes } of files) {
    // Its header, without further fields, has 10 bytes.
    const packed = gzipSync(bytes, { level: 9 });
    const fields = zipFields(name, packed, bytes.length);
    const row = Buffer.alloc(14);
    row.writeUInt32LE(size, 10);
    rows.push(Buffer.from('PK\x01\x02\x14\x00'), fields, row, Buffer.from(name));
    const part = [Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed.subarray(10, -8)];
    parts.push(...part);
    size += Buffer.concat(part).length;
  }
  const list = Buffer.concat(rows);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(size, 16);
  return Buffer.concat([...parts, list, end]);
}
