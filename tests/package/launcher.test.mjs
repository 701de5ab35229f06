// What the command of the npm package says when it finds no program, or none that fits. The system is played: the
// packages hold scripts, and Node.js is told another platform.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const packed = resolve(dirname(fileURLToPath(import.meta.url)), '../../build/package');
const version = '1.2.3';
const platforms = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64'];

/** A node_modules with the command and these platform packages. Each of their programs prints its platform. */
class Installation {
  constructor(t, ...installed) {
    this.root = mkdtempSync(join(tmpdir(), 'sitter-launcher-'));
    t.after(() => rmSync(this.root, { recursive: true, force: true }));
    cpSync(join(packed, 'npm/mcp-sitter-native'), this.path('mcp-sitter-native'), { recursive: true });
    const manifest = JSON.parse(readFileSync(this.path('mcp-sitter-native/package.json')));
    const optionalDependencies = Object.fromEntries(platforms.map((each) => [`@mcp-sitter/${each}`, version]));
    this.write('mcp-sitter-native/package.json', JSON.stringify({ ...manifest, version, optionalDependencies }));
    for (const platform of installed) this.install(platform);
  }

  path(name) {
    return join(this.root, 'node_modules', name);
  }

  write(name, text, mode = 0o644) {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text, { mode });
    return this.path(name);
  }

  install(platform, its = version) {
    const name = `@mcp-sitter/${platform}`;
    this.write(`${name}/package.json`, JSON.stringify({ name, version: its }));
    this.write(`${name}/bin/mcp-sitter`, `#!/bin/sh\necho program for ${platform} "$@"\n`, 0o755);
  }

  /** Runs the command on this platform. */
  run(platform, { env = {}, words = [] } = {}) {
    const [os, cpu] = platform.split('-');
    const played = `Object.defineProperties(process, { platform: { value: '${os}' }, arch: { value: '${cpu}' } })`;
    const before = ['--import', `data:text/javascript,${encodeURIComponent(played)}`];
    const command = [...before, this.path('mcp-sitter-native/bin/mcp-sitter.mjs'), ...words];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...env },
      cwd: this.root,
    });
    return { status, stdout, stderr };
  }

  refuses(platform, sentence, options) {
    const { status, stdout, stderr } = this.run(platform, options);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^mcp-sitter: [^\n]*\.\n$/);
    assert.match(stderr, sentence);
  }
}

const runs = (platform, ...words) => ({
  status: 0,
  stdout: `${['program for', platform, ...words].join(' ')}\n`,
  stderr: '',
});

test('the package of this platform has the program', (t) => {
  const installation = new Installation(t, 'linux-arm64', 'linux-x64');
  assert.deepEqual(installation.run('linux-x64', { words: ['--where'] }), runs('linux-x64', '--where'));
  assert.deepEqual(installation.run('linux-arm64'), runs('linux-arm64'));
});

test('a missing package is named, and how to install it', (t) => {
  new Installation(t).refuses(
    'linux-x64',
    /the package @mcp-sitter\/linux-x64 is missing, .*--omit=optional.*; install it .* npm install -g mcp-sitter-native@1\.2\.3\./,
  );
});

test('a node_modules from another system is recognised', (t) => {
  new Installation(t, 'darwin-arm64').refuses(
    'linux-x64',
    /@mcp-sitter\/darwin-arm64 is installed, .* copied from there; install it on this system again/,
  );
});

test('a system without a program is named, and those that have one', (t) => {
  new Installation(t, 'linux-x64').refuses(
    'win32-x64',
    /no program for win32-x64 yet, only for linux-x64, linux-arm64, darwin-arm64, darwin-x64\./,
  );
});

test('a package of another version is refused', (t) => {
  const installation = new Installation(t);
  installation.install('linux-x64', '1.2.4');
  installation.refuses('linux-x64', /linux-x64 is of version 1\.2\.4 and mcp-sitter-native of version 1\.2\.3; install both/);
});

test('a program that lost its permission is refused', (t) => {
  const installation = new Installation(t, 'linux-x64');
  chmodSync(installation.path('@mcp-sitter/linux-x64/bin/mcp-sitter'), 0o644);
  installation.refuses('linux-x64', /bin\/mcp-sitter cannot be executed; install mcp-sitter-native again/);
});

test('a package without its program is refused', (t) => {
  const installation = new Installation(t, 'linux-x64');
  rmSync(installation.path('@mcp-sitter/linux-x64/bin/mcp-sitter'));
  installation.refuses('linux-x64', /bin\/mcp-sitter does not exist; install mcp-sitter-native again/);
});

test('a manifest that cannot be read is named', (t) => {
  const installation = new Installation(t, 'linux-x64');
  installation.write('@mcp-sitter/linux-x64/package.json', '{');
  installation.refuses('linux-x64', /the package @mcp-sitter\/linux-x64 cannot be read: /);
});

describe('MCP_SITTER_BINARY', () => {
  const wanting = (MCP_SITTER_BINARY) => ({ env: { MCP_SITTER_BINARY } });

  test('names another program, also when no package is there', (t) => {
    const installation = new Installation(t);
    installation.write('other', '#!/bin/sh\necho program for tests "$@"\n', 0o755);
    const options = { ...wanting('node_modules/other'), words: ['a b'] };
    assert.deepEqual(installation.run('linux-x64', options), runs('tests', 'a b'));
  });

  test('is ignored when it is empty', (t) => {
    assert.deepEqual(new Installation(t, 'linux-x64').run('linux-x64', wanting('')), runs('linux-x64'));
  });

  test('is named when it leads nowhere, to a folder, or to a file that is no program', (t) => {
    const installation = new Installation(t, 'linux-x64');
    const wrong = {
      [installation.path('none')]: 'does not exist',
      [installation.path('mcp-sitter-native/README.md/x')]: 'cannot be executed',
      [installation.root]: 'is no file',
      [installation.path('mcp-sitter-native/README.md')]: 'cannot be executed',
      [installation.write('text', 'a text that may be executed\n', 0o755)]: 'is no program',
      [installation.write('nothing', '', 0o755)]: 'is no program',
    };
    for (const [path, what] of Object.entries(wrong)) {
      const sentence = new RegExp(`MCP_SITTER_BINARY names ${path}, which ${what}; `);
      installation.refuses('linux-x64', sentence, wanting(path));
    }
  });
});

describe('Node.js for Intel processors on a Mac', () => {
  const onMac = (installation, answer) => {
    const sysctl = `#!/bin/sh\ntest "$*" = '-n sysctl.proc_translated' && ${answer}\n`;
    installation.write('.bin/sysctl', sysctl, 0o755);
    return { env: { PATH: `${installation.path('.bin')}:${process.env.PATH}` } };
  };
  const translated = (installation) => onMac(installation, 'echo 1');

  test('under Rosetta takes the program for Apple silicon', (t) => {
    const installation = new Installation(t, 'darwin-x64', 'darwin-arm64');
    assert.deepEqual(installation.run('darwin-x64', translated(installation)), runs('darwin-arm64'));
  });

  test('under Rosetta takes the translated program if there is no other', (t) => {
    const installation = new Installation(t, 'darwin-x64');
    assert.deepEqual(installation.run('darwin-x64', translated(installation)), runs('darwin-x64'));
  });

  test('under Rosetta says so when there is none', (t) => {
    const installation = new Installation(t);
    installation.refuses(
      'darwin-x64',
      /neither @mcp-sitter\/darwin-arm64 nor @mcp-sitter\/darwin-x64 is installed, and Rosetta runs this Node\.js/,
      translated(installation),
    );
  });

  for (const [what, answer] of Object.entries({ 'says no': 'echo 0', 'knows no Rosetta': 'exit 1' })) {
    test(`takes the program for Intel if the system ${what}`, (t) => {
      const installation = new Installation(t, 'darwin-x64', 'darwin-arm64');
      assert.deepEqual(installation.run('darwin-x64', onMac(installation, answer)), runs('darwin-x64'));
    });
  }
});
