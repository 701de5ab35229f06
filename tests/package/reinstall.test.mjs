// Installing again: twice, over an older version, without the program's package and then with it, and in a folder whose
// name has spaces and letters beyond ASCII. What is removed leaves no file.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Newcomer } from './newcomer.mjs';
import { packed, tinyServer } from './places.mjs';
import { Registry } from './registry.mjs';
import { Session } from './session.mjs';

const old = '0.0.1';
const install = 'npm install -g mcp-sitter-native';
let registry;
let olderDir;

/** Packs the packages again as if they were of an older version. */
function packOlder() {
  olderDir = mkdtempSync(join(tmpdir(), 'sitter-older-'));
  for (const name of readdirSync(packed).filter((each) => each.endsWith('.tgz'))) {
    const folder = join(olderDir, name.replace('.tgz', ''));
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', join(packed, name), '-C', folder]);
    const path = join(folder, 'package/package.json');
    const { version, ...manifest } = JSON.parse(readFileSync(path));
    const text = JSON.stringify({ ...manifest, version: old });
    writeFileSync(path, text.replaceAll(`"${version}"`, `"${old}"`));
    const words = ['-czf', join(olderDir, name.replace(version, old)), '-C', folder, 'package'];
    execFileSync('tar', words);
  }
}

before(async () => {
  packOlder();
  registry = await Registry.start(olderDir, packed);
});

after(() => {
  registry.close();
  rmSync(olderDir, { recursive: true });
});

const files = (user) =>
  ['prefix', 'home'].flatMap((folder) => {
    mkdirSync(user.path(folder), { recursive: true });
    const all = readdirSync(user.path(folder), { recursive: true, withFileTypes: true });
    return all.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  });

const versions = (user) =>
  ['mcp-sitter-native', 'mcp-sitter-native/node_modules/@mcp-sitter/linux-x64'].map(
    (name) => JSON.parse(readFileSync(user.path(`prefix/lib/node_modules/${name}/package.json`))).version,
  );

test('twice, and nothing changes; removed, and no file is left', async (t) => {
  const user = new Newcomer(t, registry);
  const untouched = files(user);
  await user.run(install);
  const once = files(user);
  await user.run(install);
  assert.deepEqual(files(user), once);
  const session = await Session.open(t, ['mcp-sitter', '--', ...tinyServer], { env: user.env });
  assert.equal(await session.call('greet'), 'hello');
  await session.close();
  await user.run('npm uninstall -g mcp-sitter-native');
  assert.deepEqual(files(user), untouched);
});

test('over an older version, both packages are replaced', async (t) => {
  const user = new Newcomer(t, registry);
  await user.run(`${install}@${old}`);
  assert.deepEqual(versions(user), [old, old]);
  const once = files(user);
  await user.run(install);
  const [version] = versions(user);
  assert.notEqual(version, old);
  assert.deepEqual(versions(user), [version, version]);
  assert.deepEqual(files(user), once);
  assert.match(await user.run('mcp-sitter --version'), new RegExp(`^mcp-sitter ${version}$`, 'm'));
});

test('without optional dependencies, the command says what to do, and that helps', async (t) => {
  const user = new Newcomer(t, registry);
  // A global installation with npm omits nothing.
  await user.run('npm init --yes && npm install --omit=optional mcp-sitter-native');
  const { code, stdout, stderr } = await user.tries('node_modules/.bin/mcp-sitter --version');
  assert.deepEqual([code, stdout], [1, '']);
  const [, advice] = stderr.match(/^mcp-sitter: the package @mcp-sitter\/linux-x64 is missing, .*as with (npm .*)\.\n$/);
  await user.run(advice);
  assert.match(await user.run('mcp-sitter --version'), /^mcp-sitter /);
});

test('in a folder with spaces and letters beyond ASCII', async (t) => {
  const user = new Newcomer(t, registry, "größer & 'mehr' Платz");
  await user.run(install);
  assert.ok((await user.run('mcp-sitter --where')).startsWith(user.path('prefix/lib/node_modules/')));
  const session = await Session.open(t, ['mcp-sitter', '--', ...tinyServer], { env: user.env });
  await session.call('sitter_kill');
  assert.match(await session.call('greet'), /^\[mcp-sitter\] server restarted \(spawn #2, [^]*hello$/);
  await session.close();
});
