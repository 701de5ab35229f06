// A .tar.gz file whose bytes depend only on the files in it. The tar programs of the systems differ in their options.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const BLOCK = 512;
// The time that npm gives to each file of a package.
const WRITTEN_AT = Date.UTC(1985, 9, 26, 8, 15) / 1000;
const UNKNOWN_SYSTEM = 255;

function header(name, mode, size, type) {
  if (Buffer.byteLength(name) > 100) throw new Error(`the name is too long for an archive: ${name}`);
  const block = Buffer.alloc(BLOCK);
  const put = (at, text) => block.write(text, at);
  const octal = (at, length, number) => put(at, number.toString(8).padStart(length - 1, '0'));
  put(0, name);
  octal(100, 8, mode);
  octal(108, 8, 0);
  octal(116, 8, 0);
  octal(124, 12, size);
  octal(136, 12, WRITTEN_AT);
  put(148, ' '.repeat(8));
  put(156, type);
  put(257, 'ustar\x0000');
  octal(148, 7, block.reduce((sum, byte) => sum + byte, 0));
  return block;
}

function* blocks(parent, name) {
  const path = join(parent, name);
  const status = statSync(path);
  const { mode, size } = status;
  if (status.isDirectory()) {
    yield header(`${name}/`, 0o755, 0, '5');
    for (const each of readdirSync(path).sort()) yield* blocks(parent, `${name}/${each}`);
  } else {
    yield header(name, mode & 0o100 ? 0o755 : 0o644, size, '0');
    yield readFileSync(path);
    yield Buffer.alloc(-size & (BLOCK - 1));
  }
}

/** The archive of a folder, whose name begins each name in it. */
export function archiveOf(parent, folder) {
  const end = Buffer.alloc(2 * BLOCK);
  const bytes = gzipSync(Buffer.concat([...blocks(parent, folder), end]), { level: 9 });
  // The header of gzip names the system that has packed the file.
  bytes[9] = UNKNOWN_SYSTEM;
  return bytes;
}
