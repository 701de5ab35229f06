// packaging/publish.mjs, with npm and a registry on loopback.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { projectDir } from '../real/support/documents.mjs';
import { OpenRegistry } from './open_registry.mjs';

const root = mkdtempSync(join(tmpdir(), 'sitter-publish-'));
const packed = join(root, 'packed');
const platforms = { '@mcp-sitter/linux-arm64': '1.0.0', '@mcp-sitter/linux-x64': '1.0.0' };
let registry;

before(() => {
  mkdirSync(packed);
  ['mcp-sitter-native', ...Object.keys(platforms)].forEach((name) => pack(name, 'first'));
});
after(() => rmSync(root, { recursive: true, force: true }));
beforeEach(async () => {
  registry = await OpenRegistry.start();
});
afterEach(() => registry.close());

/** Packs a package of version 1.0.0 with this content. */
function pack(name, content) {
  const optionalDependencies = name === 'mcp-sitter-native' ? platforms : undefined;
  const folder = join(root, 'source', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', optionalDependencies }));
  writeFileSync(join(folder, 'content'), content);
  const words = ['pack', '--pack-destination', packed, '--loglevel=error', '--no-update-notifier'];
  execFileSync('npm', words, { cwd: folder, env: { PATH: process.env.PATH, HOME: root } });
}

async function publish(env = registry.env(root)) {
  const script = join(projectDir, 'packaging/publish.mjs');
  const child = spawn(process.execPath, [script, packed], { env, stdio: 'pipe' });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  child.stderr.on('data', (data) => (said += data));
  const [code] = await once(child, 'close');
  return { code, said };
}

const all = ['@mcp-sitter/linux-arm64@1.0.0', '@mcp-sitter/linux-x64@1.0.0', 'mcp-sitter-native@1.0.0'];

test('the package that people install is published last', async () => {
  const { code, said } = await publish();
  assert.equal(code, 0, said);
  assert.deepEqual(registry.published, all);
});

test('a second run publishes what the first has not', async () => {
  registry.refused = '@mcp-sitter/linux-x64';
  assert.equal((await publish()).code, 1);
  assert.deepEqual(registry.published, all.slice(0, 1));
  registry.refused = undefined;
  const { code, said } = await publish();
  assert.equal(code, 0, said);
  assert.match(said, /linux-arm64@1\.0\.0: published already, with this content/);
  assert.deepEqual(registry.published, all);
});

test('nothing is published if the registry does not answer', async () => {
  registry.close();
  const { code, said } = await publish();
  assert.equal(code, 1);
  assert.match(said, /the registry does not say whether/);
});

test('npm output that is not JSON is quoted', async () => {
  const folder = join(root, 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho this npm is broken >&2\nexit 1\n', { mode: 0o755 });
  const env = registry.env(root);
  const { code, said } = await publish({ ...env, PATH: `${folder}:${env.PATH}` });
  assert.equal(code, 1);
  assert.match(said, /the registry does not say whether [^]*this npm is broken/);
});

test('nothing is published if a package is published with other content', async () => {
  registry.refused = '@mcp-sitter/linux-x64';
  await publish();
  registry.refused = undefined;
  pack('@mcp-sitter/linux-arm64', 'second');
  const { code, said } = await publish();
  assert.equal(code, 1);
  assert.match(said, /publish: @mcp-sitter\/linux-arm64@1\.0\.0: published already, with other content/);
  assert.deepEqual(registry.published, all.slice(0, 1));
});

test('nothing is published if a requested package is missing', async () => {
  for (const platform of Object.keys(platforms)) {
    rmSync(join(packed, readdirSync(packed).find((each) => each.includes(platform.split('/')[1]))));
    const { code, said } = await publish();
    assert.equal(code, 1);
    assert.match(said, /but needs @mcp-sitter\/linux-arm64@1\.0\.0, @mcp-sitter\/linux-x64@1\.0\.0; run/);
  }
  assert.deepEqual(registry.published, []);
});
