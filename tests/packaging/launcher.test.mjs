// How the command of the npm package finds and starts the program, and what it says if it cannot. The system is played: the
// packages hold scripts, and Node.js is told another platform.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { projectDir } from '../real/support/documents.mjs';

const version = '1.2.3';
const platforms = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64', 'win32-x64'];

/** What plays the program of this platform. A program for Windows begins with MZ; this one is a script all the same. */
const beginOf = (platform) => (platform === 'win32-x64' ? 'MZ=\n' : '#!/bin/sh\n');
const fileOf = (platform) => (platform === 'win32-x64' ? 'bin/mcp-sitter.exe' : 'bin/mcp-sitter');

/** A node_modules with the command and these platform packages. Each of their programs prints its platform. */
class Installation {
  constructor(t, ...installed) {
    this.root = mkdtempSync(join(tmpdir(), 'sitter-launcher-'));
    t.after(() => rmSync(this.root, { recursive: true, force: true }));
    cpSync(join(projectDir, 'npm/mcp-sitter-native'), this.path('mcp-sitter-native'), { recursive: true });
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
    const text = `${beginOf(platform)}echo program for ${platform} "$@"\n`;
    this.write(`${name}/${fileOf(platform)}`, text, 0o755);
  }

  get launcher() {
    return this.path('mcp-sitter-native/bin/mcp-sitter.mjs');
  }

  /**
   * The words that start the command on this platform. `versions` plays a package manager, `stays` an older Node.js.
   * `first` is code that runs before the command.
   */
  command(platform, { words = [], versions = {}, stays = false, launcher = this.launcher, first = '' } = {}) {
    const [os, cpu] = platform.split('-');
    const played = { platform: os, arch: cpu, versions: { ...process.versions, ...versions } };
    if (stays) played.execve = null;
    const properties = Object.entries(played).map(([name, value]) => [name, { value }]);
    const playing = `Object.defineProperties(process, ${JSON.stringify(Object.fromEntries(properties))})`;
    return ['--import', `data:text/javascript,${encodeURIComponent(`${playing};${first}`)}`, launcher, ...words];
  }

  /** Runs the command on this platform. */
  run(platform, { env = {}, ...options } = {}) {
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, this.command(platform, options), {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...env },
      cwd: this.root,
      timeout: 30000,
    });
    assert.equal(signal, null, stderr);
    return { status, stdout, stderr };
  }

  refuses(platform, sentence, options) {
    const { status, stdout, stderr } = this.run(platform, options);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^mcp-sitter: [^\n]*\.\n$/);
    assert.match(stderr, sentence);
    return stderr;
  }
}

const runs = (platform, ...words) => ({
  status: 0,
  stdout: `${['program for', platform, ...words].join(' ')}\n`,
  stderr: '',
});

test('docs/installing.md lists what the command says', () => {
  const code = readFileSync(join(projectDir, 'npm/mcp-sitter-native/bin/mcp-sitter.mjs'), 'utf8');
  const says = code.replaceAll('${variable}', 'MCP_SITTER_BINARY');
  const [, table] = readFileSync(join(projectDir, 'docs/installing.md'), 'utf8').split('| the command says | reason |\n');
  const sentences = table.split('\n\n')[0].split('\n').slice(1).map((row) => row.split('|')[1].trim());
  for (const sentence of sentences) {
    for (const part of sentence.split('...')) assert.ok(says.includes(part), `'${part}' in '${sentence}'`);
  }
  assert.equal(sentences.length, code.match(/\bfail\(`/g).length);
});

test('the package of this platform has the program', (t) => {
  const installation = new Installation(t, 'linux-arm64', 'linux-x64');
  assert.deepEqual(installation.run('linux-x64', { words: ['--where'] }), runs('linux-x64', '--where'));
  assert.deepEqual(installation.run('linux-arm64'), runs('linux-arm64'));
});

test('the package for Windows has a program of another name', (t) => {
  const installation = new Installation(t, 'linux-x64', 'win32-x64');
  assert.deepEqual(installation.run('win32-x64', { words: ['--where'] }), runs('win32-x64', '--where'));
});

// The package managers: how the command recognises each of them, and the words for it.
const managers = {
  npm: { omits: '--omit=optional', installs: 'npm install -g mcp-sitter-native@1.2.3' },
  pnpm: {
    folder: 'project/node_modules/.pnpm/mcp-sitter-native@1.2.3',
    omits: '--no-optional',
    installs: 'pnpm add -g mcp-sitter-native@1.2.3',
    shares: 'supportedArchitectures of pnpm-workspace.yaml',
  },
  'pnpm with its global store': {
    folder: 'pnpm/store/v11/links/@/mcp-sitter-native/1.2.3/0a1b',
    omits: '--no-optional',
    installs: 'pnpm add -g mcp-sitter-native@1.2.3',
    shares: 'supportedArchitectures of pnpm-workspace.yaml',
  },
  'Yarn with PnP': { versions: { pnp: '3' }, installs: 'yarn install', shares: 'supportedArchitectures of .yarnrc.yml' },
  Bun: { versions: { bun: '1.4.5' }, omits: '--omit=optional', installs: 'bun add -g mcp-sitter-native@1.2.3' },
  'Bun with Node.js': {
    folder: '.bun/install/global',
    omits: '--omit=optional',
    installs: 'bun add -g mcp-sitter-native@1.2.3',
  },
  Deno: { versions: { deno: '2.9.6' }, installs: 'deno install -g -A -f npm:mcp-sitter-native@1.2.3' },
};

for (const [name, { folder = '', versions, omits, installs, shares }] of Object.entries(managers)) {
  describe(`installed by ${name}`, () => {
    const says = (t, ...installed) => {
      const installation = new Installation(t, ...installed);
      const there = join(installation.root, folder, 'node_modules');
      if (folder) cpSync(installation.path(''), there, { recursive: true });
      const launcher = join(there, 'mcp-sitter-native/bin/mcp-sitter.mjs');
      return installation.refuses('linux-x64', /again/, { launcher, versions });
    };

    test('a missing package is named, and how to install it', (t) => {
      const without = `as after an installation without optional dependencies${omits ? ` (${omits})` : ''}`;
      assert.equal(
        says(t),
        `mcp-sitter: the package @mcp-sitter/linux-x64 is missing, ${without}; ` +
          `install it on this system again, as with ${installs}.\n`,
      );
    });

    test('an installation from another system is recognised', (t) => {
      const both = shares ? `, or name both systems in ${shares}` : '';
      assert.equal(
        says(t, 'darwin-arm64'),
        'mcp-sitter: @mcp-sitter/darwin-arm64 is installed, which is for another system, so this installation was ' +
          `copied from there; install it on this system again, as with ${installs}${both}.\n`,
      );
    });
  });
}

test('a system without a program is named, and those that have one', (t) => {
  new Installation(t, 'linux-x64').refuses(
    'freebsd-x64',
    /no program for freebsd-x64 yet, only for linux-x64, linux-arm64, darwin-arm64, darwin-x64, win32-x64\./,
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

  test('is not in the environment of the program', (t) => {
    const installation = new Installation(t);
    const path = installation.write('other', '#!/bin/sh\necho "<$MCP_SITTER_BINARY>"\n', 0o755);
    for (const stays of [true, false]) {
      assert.equal(installation.run('linux-x64', { ...wanting(path), stays }).stdout, '<>\n');
    }
  });

  test('may name a command that starts the launcher, which then takes the installed program', (t) => {
    const installation = new Installation(t, 'linux-x64');
    const command = installation.command('linux-x64').map((word) => `'${word}'`);
    const shim = installation.write('shim', `#!/bin/sh\nexec '${process.execPath}' ${command.join(' ')} "$@"\n`, 0o755);
    const options = { ...wanting(shim), words: ['--where'] };
    assert.deepEqual(installation.run('linux-x64', options), runs('linux-x64', '--where'));
  });

  test('must not name the launcher', (t) => {
    const installation = new Installation(t, 'linux-x64');
    chmodSync(installation.launcher, 0o755);
    const link = installation.path('mcp-sitter');
    symlinkSync(installation.launcher, link);
    for (const path of [installation.launcher, link]) {
      const sentence = new RegExp(`MCP_SITTER_BINARY names ${path}, which is this command itself; `);
      installation.refuses('linux-x64', sentence, wanting(path));
    }
  });

  test('is named when it leads nowhere, to a folder, or to a file that may not be executed', (t) => {
    const installation = new Installation(t, 'linux-x64');
    const wrong = {
      [installation.path('none')]: 'does not exist',
      [installation.path('mcp-sitter-native/package.json/x')]: 'cannot be executed',
      [installation.root]: 'is not a file',
      [installation.path('mcp-sitter-native/package.json')]: 'cannot be executed',
    };
    for (const [path, what] of Object.entries(wrong)) {
      const sentence = new RegExp(`MCP_SITTER_BINARY names ${path}, which ${what}; `);
      installation.refuses('linux-x64', sentence, wanting(path));
    }
  });
});

/** The header of an ELF file, by default of a whole one for x86-64. */
function elf({ bits = 64, machine = 62, sectionsAt = 0 } = {}) {
  const header = Buffer.alloc(64);
  header.set([0x7f, 0x45, 0x4c, 0x46, bits / 32, 1, 1]);
  header.writeUInt16LE(machine, 18);
  header.writeBigUInt64LE(BigInt(sectionsAt), 40);
  return header;
}

function machO(processor) {
  const header = Buffer.alloc(32);
  header.writeUInt32LE(0xfeedfacf, 0);
  header.writeUInt32LE(processor, 4);
  return header;
}

// Without these sentences, process.execve would end Node.js with a stack trace, and spawn would start a shell.
describe('a file that the system cannot start is refused', () => {
  const arm64 = 0x0100000c;
  const x64 = 0x01000007;
  const files = [
    ['an empty file', '', 'is not a program'],
    ['a text', 'a text that may be executed\n', 'is not a program'],
    ['the begin of a program', elf().subarray(0, 40), 'is cut off'],
    ['a program without its end', elf({ sectionsAt: 100 }), 'is cut off'],
    ['a program for arm64', elf({ machine: 183 }), 'is for another processor'],
    ['a program for x86-64', elf(), 'is for another processor', 'linux-arm64'],
    ['a program with 32 bits', elf({ bits: 32, machine: 3 }), 'is for another processor'],
    ['a program for macOS', machO(x64), 'is for another system'],
    ['a program for Linux', elf(), 'is for another system', 'darwin-x64'],
    ['the begin of a program for macOS', machO(x64).subarray(0, 8), 'is cut off', 'darwin-x64'],
    ['a program for Apple silicon', machO(arm64), 'is for another processor', 'darwin-x64'],
    ['a program for Windows', 'MZ', 'is for another system'],
    ['a program for Windows, on macOS', 'MZ', 'is for another system', 'darwin-x64'],
    ['a program for Linux, on Windows', elf(), 'is for another system', 'win32-x64'],
    ['a program for macOS, on Windows', machO(x64), 'is for another system', 'win32-x64'],
    ['a script, on Windows', '#!/bin/sh\n', 'is not a program', 'win32-x64'],
    ['a script without an interpreter', '#! \n', 'is not a program'],
    ['a script of a missing interpreter', '#!/no/sh -e\n', 'needs an interpreter that does not exist'],
    ['a script with the line ends of Windows', '#!/bin/sh\r\n', 'needs an interpreter that does not exist'],
    ['a script that a folder should run', '#!/tmp\n', 'needs an interpreter that is not a file'],
  ];
  for (const [name, text, what, platform = 'linux-x64'] of files) {
    test(name, (t) => {
      const installation = new Installation(t, platform);
      const path = installation.write(`@mcp-sitter/${platform}/${fileOf(platform)}`, text, 0o755);
      for (const stays of [true, false]) {
        const sentence = new RegExp(`the program ${path} ${what}; install mcp-sitter-native again`);
        installation.refuses(platform, sentence, { stays });
        const env = { MCP_SITTER_BINARY: path };
        installation.refuses(platform, new RegExp(`MCP_SITTER_BINARY names ${path}, which ${what}; `), { stays, env });
      }
    });
  }

  test('a file that is open for writing', { skip: process.platform !== 'linux' && 'other systems run it' }, (t) => {
    const installation = new Installation(t, 'linux-x64');
    const path = installation.path('@mcp-sitter/linux-x64/bin/mcp-sitter');
    const file = openSync(path, 'r+');
    t.after(() => closeSync(file));
    installation.refuses('linux-x64', /its program cannot be run: .*ETXTBSY/, { stays: true });
  });
});

test('a program of this system runs', (t) => {
  const MCP_SITTER_BINARY = spawnSync('which', ['echo'], { encoding: 'utf8' }).stdout.trim();
  const here = `${process.platform}-${process.arch}`;
  for (const stays of [true, false]) {
    const said = new Installation(t).run(here, { env: { MCP_SITTER_BINARY }, words: ['a'], stays });
    assert.deepEqual(said, { status: 0, stdout: 'a\n', stderr: '' });
  }
});

describe('Node.js without process.execve', () => {
  /** Starts the command with this program. The program says so when it is up. */
  async function starts(t, program, platform = 'linux-x64', first = '') {
    const installation = new Installation(t, platform);
    const text = `${beginOf(platform)}${program}\n`;
    installation.write(`@mcp-sitter/${platform}/${fileOf(platform)}`, text, 0o755);
    const child = spawn(process.execPath, installation.command(platform, { stays: true, first }), {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    return { child, ended };
  }

  for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']) {
    test(`passes ${signal} on`, async (t) => {
      const { child, ended } = await starts(t, `trap 'exit 42' ${signal.slice(3)}; echo up; read -r line`);
      child.kill(signal);
      assert.deepEqual(await ended, [42, null]);
    });
  }

  // There the console tells the program too, and Node.js could only terminate it.
  for (const signal of ['SIGHUP', 'SIGINT']) {
    test(`leaves ${signal} to the program on Windows, and ends with its exit code`, async (t) => {
      const counts = `setImmediate(() => console.log('handlers', process.listenerCount('${signal}')))`;
      const first = `process.on('${signal}', () => ${counts})`;
      const { child, ended } = await starts(t, 'echo up; read -r line; exit 42', 'win32-x64', first);
      child.kill(signal);
      const [said] = await once(child.stdout, 'data');
      assert.equal(said.toString(), 'handlers 2\n');
      child.stdin.end('\n');
      assert.deepEqual(await ended, [42, null]);
    });
  }

  test('ends by the signal that ended the program', async (t) => {
    const { ended } = await starts(t, 'echo up; kill -KILL $$');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
  });

  // Node.js ignores these signals.
  for (const signal of ['SIGPIPE', 'SIGXFSZ']) {
    test(`says with its exit code that ${signal} ended the program`, async (t) => {
      const { ended } = await starts(t, `echo up; kill -${signal.slice(3)} $$`);
      assert.deepEqual(await ended, [128 + constants.signals[signal], null]);
    });
  }
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
