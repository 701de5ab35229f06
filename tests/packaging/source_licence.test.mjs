// Where packaging/notices.mjs finds the licence of a library that is no package of Debian.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { sourceLicence } from '../../packaging/source_licence.mjs';

const root = mkdtempSync(join(tmpdir(), 'sitter-licence-'));
after(() => rmSync(root, { recursive: true, force: true }));

const put = (name, text = '') => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
  return join(root, name);
};
const licence = (path) => sourceLicence(path, join(root, 'project'));

test('a fetched library has its licence in a folder above the file', () => {
  put('project/LICENSE', 'ours');
  put('project/build/_deps/fmt-src/LICENSE', 'of fmt\n');
  const path = put('project/build/_deps/fmt-src/include/fmt/core.h');
  assert.deepEqual(licence(path), { title: 'fmt', text: 'of fmt' });
});

test('the licence of this project is never that of a library', () => {
  assert.throws(() => licence(put('project/build/_deps/bare-src/a.h')), /no licence is found for .*bare-src\/a\.h/);
});

test('a library that is neither fetched nor a package is refused', () => {
  put('elsewhere/ssl/LICENSE', 'of another version');
  assert.throws(() => licence(put('elsewhere/ssl/include/ssl.h')), /no licence is found for .*ssl\.h/);
});
