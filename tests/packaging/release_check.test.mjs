// ./dev release-check, in a small copy of the project that is ready for a release but for one thing at a time.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { projectDir } from '../real/support/documents.mjs';
import { OpenRegistry } from './open_registry.mjs';

const root = mkdtempSync(join(tmpdir(), 'sitter-release-'));
const project = join(root, 'project');
let registry;

const address = 'https://github.com/mcp-sitter/mcp-sitter';
const manifest = (name) =>
  JSON.stringify({ name, publishConfig: { access: 'public' }, repository: { url: `git+${address}.git` } });
const platforms = {
  'linux-x64': { runner: 'ubuntu-24.04' },
  'linux-arm64': { runner: 'ubuntu-24.04' },
  'darwin-arm64': { runner: 'ubuntu-24.04' },
  'darwin-x64': { runner: 'ubuntu-24.04' },
  'win32-x64': { runner: 'windows-2025' },
};
// The workflows of the project have a test of their own.
const workflow = [
  'on: push',
  'permissions:',
  '  contents: read',
  'jobs:',
  '  build:',
  '    runs-on: ubuntu-24.04',
  '    steps:',
  '      - run: ./dev build',
].join('\n');
const files = {
  '.github/workflows/ci.yml': workflow,
  'CMakeLists.txt': 'project(mcp-sitter\n  VERSION 1.2.3\n  LANGUAGES CXX)\n',
  'CHANGELOG.md': '# Changelog\n\n## 1.2.3 (2030-01-31)\n\n- New.\n\n## 1.2.2 (2030-01-01)\n\n- Old.\n',
  'README.md': `See ${address}/releases.\n`,
  'SECURITY.md': '',
  'CONTRIBUTING.md': '',
  LICENSE: '',
  '.gitignore': '/build/\nnode_modules\n',
  'npm/platforms.json': JSON.stringify(platforms),
  'npm/mcp-sitter-native/package.json': manifest('mcp-sitter-native'),
  'npm/platform/package.json': manifest('@mcp-sitter/PLATFORM'),
  'packaging/notices.mjs': '',
};

const git = (...words) => {
  const settings = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...settings, ...words], { cwd: project, env: { PATH: process.env.PATH } });
};
const put = (name, text) => {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
};

before(async () => {
  registry = await OpenRegistry.start();
  // What the check of the workflows installs comes from another registry. It is old if its lock file is newer.
  execFileSync(join(projectDir, 'packaging/npm_ci'), [join(projectDir, 'packaging/lint')]);
  const filter = (path) => basename(path) !== 'node_modules';
  const from = join(projectDir, 'packaging');
  cpSync(from, join(project, 'packaging'), { recursive: true, preserveTimestamps: true, filter });
  const installed = 'packaging/lint/node_modules';
  symlinkSync(join(projectDir, installed), join(project, installed));
  for (const [name, text] of Object.entries(files)) put(name, text);
  // npm takes half a second to ask a registry that has nothing.
  mkdirSync(join(root, 'bin'));
  const absent = `#!/bin/sh\necho '{"error":{"code":"E404"}}'\nexit 1\n`;
  writeFileSync(join(root, 'bin/npm'), absent, { mode: 0o755 });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'Begin');
});
after(() => {
  registry.close();
  rmSync(root, { recursive: true, force: true });
});

/** Runs the check: its exit code, and what it says is missing. Most of this is not about the registry. */
async function check(words = [], env = {}) {
  const script = join(project, 'packaging/release-check.mjs');
  const { PATH, ...rest } = registry.env(root);
  env = { PATH: `${join(root, 'bin')}:${PATH}`, ...rest, ...env };
  const child = spawn(process.execPath, [script, ...words], { env, stdio: 'pipe' });
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  child.stderr.on('data', (data) => (said += data));
  const [code] = await once(child, 'close');
  const lines = said.trim().split('\n').filter((line) => !line.startsWith('ok ') && !line.startsWith('version '));
  return { code, lines };
}

const checkWithNpm = (words = []) => check(words, { PATH: process.env.PATH });

/** With these files committed, or removed if they are null, exactly this is missing, in this order. */
async function lacks(changes, patterns) {
  for (const [name, text] of Object.entries(changes)) {
    if (text === null) rmSync(join(project, name));
    else put(name, text);
  }
  git('add', '-A');
  git('commit', '-qm', 'Change');
  const { code, lines } = await check();
  git('reset', '-q', '--hard', 'HEAD~1');
  assert.equal(code, 1);
  assert.equal(lines.length, patterns.length, lines.join('\n'));
  patterns.forEach((pattern, index) => assert.match(lines[index], pattern));
}

test('nothing is missing', async () => {
  assert.deepEqual(await checkWithNpm(), { code: 0, lines: [] });
  assert.deepEqual(await check(['--tag', 'v1.2.3']), { code: 0, lines: [] });
});

const withPlatform = (name) => JSON.stringify({ ...platforms, [name]: {} });

test('what is missing is named, with what to do', async () => {
  await lacks(
    {
      'CHANGELOG.md': '## 1.2.2 (2030-01-01)\n',
      'npm/platforms.json': withPlatform('linux-ia32'),
      'npm/mcp-sitter-native/package.json': manifest('mcp-sitter'),
      'README.md': 'https://github.com/somebody/mcp-sitter',
      'SECURITY.md': null,
      'packaging/notices.mjs': null,
      '.github/workflows/ci.yml': workflow.replace('contents: read', 'contents: write'),
    },
    [
      /^missing  changelog: add a section "## 1\.2\.3 \(date\)"/,
      /^missing  platforms: nothing builds linux-ia32: add a runner/,
      /^missing  packages: .* must have the name mcp-sitter-native/,
      /^missing  repository: README\.md: write https:/,
      /^missing  documents: SECURITY\.md is not there/,
      /^missing  third-party notices: packaging\/notices\.mjs is not there/,
      /^missing  workflows: ci\.yml: the permissions at the top/,
    ],
  );
  await lacks(
    {
      'CHANGELOG.md': '## 1.2.3 (not released)\n\n- New.\n',
      'npm/platform/package.json': manifest('@other/PLATFORM'),
    },
    [
      /changelog: .*"## 1\.2\.3 \(not released\)": write the date/,
      /packages: .* must have the name @mcp-sitter\/PLATFORM/,
    ],
  );
  await lacks(
    {
      'CHANGELOG.md': '## 1.2.3 (2030-01-31)\n\n## 1.2.2 (2030-01-01)\n',
      'npm/platform/package.json': '{"name": "@mcp-sitter/PLATFORM"}',
    },
    [/changelog: write what is new/, /packages: .*"access": "public"/],
  );
  await lacks({ 'CHANGELOG.md': '## 1.2.3 (2030-02-30)\n\n- New.\n' }, [/changelog: .* write the date/]);
  const headings = '## 1.2.3 (2030-01-31)\n\n### Added\n\n<!-- later\n- -->\n';
  await lacks({ 'CHANGELOG.md': headings }, [/changelog: write what is new/]);
  const behind = '## 1.2.2 (2030-01-01)\n\n- Old.\n\n## 1.2.3 (2030-01-31)\n\n- New.\n';
  await lacks({ 'CHANGELOG.md': behind }, [/changelog: put the section of 1\.2\.3 before the others/]);
});

test('a packed platform needs no runner, but its archive needs the notices', async () => {
  mkdirSync(join(project, 'build/package/mcp-sitter-1.2.3-linux-ia32'), { recursive: true });
  execFileSync('tar', ['-czf', 'x.tar.gz', 'mcp-sitter-1.2.3-linux-ia32'], { cwd: join(project, 'build/package') });
  put('build/package/mcp-sitter-linux-ia32-1.2.3.tgz', '');
  const change = { 'npm/platforms.json': withPlatform('linux-ia32') };
  await lacks(change, [/third-party notices: build\/package\/x\.tar\.gz has no/]);
  rmSync(join(project, 'build/package/x.tar.gz'));
  put('build/package/x.zip', 'PK');
  await lacks(change, [/third-party notices: build\/package\/x\.zip has no/]);
  rmSync(join(project, 'build'), { recursive: true });
});

test('the repository is the one of the packages', async () => {
  const elsewhere = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'somebody/mcp-sitter' };
  const { lines } = await check([], elsewhere);
  assert.match(lines.join('\n'), /^missing  repository: this is https:\/\/github\.com\/somebody\/mcp-sitter/);
});

test('the tag is that of the version', async () => {
  const { code, lines } = await check(['--tag', 'v1.2.4']);
  assert.equal(code, 1);
  assert.match(lines.join('\n'), /^missing  tag: the tag is v1\.2\.4, but CMakeLists\.txt has 1\.2\.3/);
  git('tag', 'v1.2.3');
  const again = await check();
  git('tag', '-d', 'v1.2.3');
  assert.match(again.lines.join('\n'), /^missing  tag: the tag v1\.2\.3 exists/);
});

test('the working tree is clean', async () => {
  put('README.md', 'changed');
  put('new.txt', 'new');
  const { lines } = await check();
  git('reset', '-q', '--hard');
  rmSync(join(project, 'new.txt'));
  assert.deepEqual(lines, ['missing  working tree: commit or remove what is changed: README.md, new.txt']);
});

/** Publishes a package of this version, which is empty. */
async function publish(name) {
  const folder = join(root, 'published', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.2.3' }));
  const words = ['publish', '--access=public', '--loglevel=error'];
  const child = spawn('npm', words, { cwd: folder, env: registry.env(root), stdio: 'ignore' });
  assert.deepEqual(await once(child, 'close'), [0, null]);
}

test('the version is not published yet, nor is a part of it', async () => {
  await publish('@mcp-sitter/linux-arm64');
  const half = await checkWithNpm(['--tag', 'v1.2.3']);
  assert.equal(half.code, 1);
  assert.match(
    half.lines.join('\n'),
    /^missing  registry: @mcp-sitter\/linux-arm64 of version 1\.2\.3 is published, .* run only the failed jobs/,
  );
  await publish('mcp-sitter-native');
  const whole = await checkWithNpm(['--tag', 'v1.2.3']);
  assert.equal(whole.code, 1);
  assert.match(whole.lines.join('\n'), /^missing  registry: mcp-sitter-native@1\.2\.3 is published/);
});

test('the notes of a release are those of the changelog', () => {
  const notes = (version) => {
    const words = [join(project, 'packaging/changelog.mjs'), version];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  assert.deepEqual(notes('1.2.2'), { status: 0, stdout: '- Old.\n', stderr: '' });
  const stderr = 'changelog: CHANGELOG.md has no section "## 1.2 (date)"\n';
  assert.deepEqual(notes('1.2'), { status: 1, stdout: '', stderr });
});

test('a wrong command line is one sentence', async () => {
  assert.deepEqual(await check(['--force']), { code: 2, lines: ['release-check: say nothing more than --tag TAG'] });
});
