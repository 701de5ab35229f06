// The session that the workflow of a release plays with what was packed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { playSession } from '../../packaging/session.mjs';
import { projectDir } from '../real/support/documents.mjs';

function tryPackages(t, folder) {
  const home = mkdtempSync(join(tmpdir(), 'sitter-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const script = join(projectDir, 'packaging/try_packages.mjs');
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home, LANG: 'C.UTF-8' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8', env });
  // npm and Node.js keep their caches.
  const left = readdirSync(home).filter((name) => name !== '.npm' && name !== 'node-compile-cache');
  return { status, stdout, stderr, left };
}

test('what was packed can be installed with npm and with install.sh', (t) => {
  const { status, stdout, stderr, left } = tryPackages(t, join(projectDir, 'build/package'));
  assert.equal(status, 0, stderr);
  const starts = stdout.split('\n').filter((line) => / installed with \S+: \[mcp-sitter\] server restarted/.test(line));
  assert.equal(starts.length, 2, stdout);
  assert.deepEqual(left, []);
});

test('a package that was not packed is named', (t) => {
  const { status, stderr, left } = tryPackages(t, join(projectDir, 'packaging'));
  assert.equal(status, 1);
  assert.match(stderr, /^try_packages: \S+ has no mcp-sitter-native-[^\n]*; \.\/dev package makes it\n$/);
  assert.deepEqual(left, []);
});

test('a session without the notice is a failure', async () => {
  await assert.rejects(playSession(process.env.MCP_SITTER, ['--no-notice']), /server restarted/);
});
