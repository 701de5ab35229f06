// packaging/install.sh, which installs a release for people without Node.js.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { projectDir } from '../real/support/documents.mjs';
import { Releases, documents, packArchive, placed, sums } from './release_folder.mjs';

const script = join(projectDir, 'packaging/install.sh');
const platform = `${process.platform}-${process.arch}`;
const installed = [...placed, ...documents.map((name) => `share/doc/mcp-sitter/${name}`)].sort();

let root;
let releases;

/**
 * Adds a release with an archive for this platform and for another one. `files` changes what is in the archives, and
 * `listed` the list of their sums.
 */
function release(version, { files, cutAt, listed = (text) => text } = {}) {
  const folder = mkdtempSync(join(root, 'release-'));
  const names = ['plan9-mips', platform].map((each) => packArchive(folder, version, each, files));
  const text = sums(folder, names);
  for (const name of names) releases.add(version, name, readFileSync(join(folder, name)), cutAt);
  releases.add(version, 'SHA256SUMS', Buffer.from(listed(text)));
}

// How other tools write a list of sums, and what servers send instead of one.
const lists = {
  '0.7.1': ['line ends of Windows', (text) => text.replaceAll('\n', '\r\n')],
  '0.7.2': ['an asterisk before the names', (text) => text.replaceAll('  ', ' *')],
  '0.7.3': ['no line end at its end', (text) => text.trimEnd()],
  '0.7.4': ['capital letters in the sums', (text) => text.replaceAll(/^\S+/gm, (sum) => sum.toUpperCase())],
};
const noLists = {
  '0.8.1': ['an empty file', () => ''],
  '0.8.2': ['a page', (text) => `<html>\n<p> ${text.split('  ')[1]}</html>\n`],
  '0.8.3': ['a list of other files', () => `${'0'.repeat(64)}  other.tar.gz\n`],
};

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'sitter-install-'));
  releases = await Releases.start();
  release('0.2.0');
  release('0.9.1', { cutAt: 100 });
  release('0.9.2', { listed: (text) => text.replaceAll(/^./gm, (digit) => (digit === '0' ? '1' : '0')) });
  release('0.9.3', { files: { 'THIRD-PARTY-NOTICES.txt': null } });
  release('0.9.4', { files: { 'bin/mcp-sitter': '#!/bin/sh\nexit 126\n' } });
  release('0.9.5', { files: { 'share/man/man1/mcp-sitter.1': null } });
  releases.add('0.9.6', 'SHA256SUMS', Buffer.from(`${'0'.repeat(64)}  mcp-sitter-0.9.6-${platform}.tar.gz\n`));
  const failsInTmpdir = '#!/bin/sh\ncase $0 in "$TMPDIR"/*) exit 126 ;; esac\necho mcp-sitter 0.9.7\n';
  release('0.9.7', { files: { 'bin/mcp-sitter': failsInTmpdir } });
  for (const [version, [, listed]] of Object.entries({ ...lists, ...noLists })) release(version, { listed });
  release('0.3.0');
});
after(() => {
  releases.close();
  rmSync(root, { recursive: true, force: true });
});

const needed = ['cp', 'gzip', 'id', 'mkdir', 'mktemp', 'mv', 'rm', 'rmdir', 'sh', 'tar', 'tr', 'uname'];
const pathOf = (name) => execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();

/** A folder with links to the programs that the script needs, and to `more`. */
function folderOfPrograms(...more) {
  const folder = mkdtempSync(join(root, 'bin-'));
  for (const name of [...needed, ...more]) symlinkSync(pathOf(name), join(folder, name));
  return folder;
}

/** The programs of this system, and before them a script with this name and this text, in which REAL is the program. */
function pathWith(name, text) {
  const folder = mkdtempSync(join(root, 'bin-'));
  writeFileSync(join(folder, name), `#!/bin/sh\n${text.replaceAll('REAL', pathOf(name))}\n`, { mode: 0o755 });
  return `${folder}:${process.env.PATH}`;
}

/** A folder with BusyBox as every program that the script needs. */
function folderOfBusybox() {
  const folder = mkdtempSync(join(root, 'bin-'));
  for (const name of [...needed, 'wget', 'sha256sum']) symlinkSync(pathOf('busybox'), join(folder, name));
  return folder;
}

/** Runs the script in an empty HOME, and returns its exit code, its output and what is in HOME then. */
function newcomer() {
  const home = join(mkdtempSync(join(root, 'home-')), 'Jörg Ümlaut');
  mkdirSync(home);
  const run = async (words, { shell = ['sh'], path = process.env.PATH, env = {}, closed = [] } = {}) => {
    const [command, ...first] = shell;
    const child = spawn(command, [...first, script, ...words], {
      env: { HOME: home, PATH: path, LANG: 'C.UTF-8', TMPDIR: dirname(home), ...env },
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of closed) child[stream].destroy();
    let out = '';
    let err = '';
    child.stdout.on('data', (data) => (out += data));
    child.stderr.on('data', (data) => (err += data));
    const [code] = await once(child, 'close');
    return { code, out, err };
  };
  const install = (words = [], options = {}) => run(['--from', releases.url, ...words], options);
  const below = (folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort();
  return { home, run, install, below };
}

/** Installing fails with this sentence, and leaves no file behind, not even a temporary one. */
async function failsWith(pattern, words, options) {
  const { home, install, below } = newcomer();
  const { code, out, err } = await install(words, options);
  assert.equal(code, 1, `${out}${err}`);
  assert.match(err, pattern);
  assert.equal(out, '');
  assert.deepEqual(below(home), []);
  assert.deepEqual(readdirSync(dirname(home)), ['Jörg Ümlaut']);
}

for (const shell of [['dash'], ['busybox', 'sh'], ['bash', '--posix']]) {
  describe(`with ${shell.join(' ')}`, () => {
    test('installs the latest release below HOME, and uninstalling leaves nothing', async () => {
      const { home, run, install, below } = newcomer();
      const { code, out, err } = await install([], { shell });
      assert.deepEqual({ code, err }, { code: 0, err: '' });
      assert.match(out, /mcp-sitter 0\.3\.0 is installed: .*\/Jörg Ümlaut\/\.local\/bin\/mcp-sitter\n/);
      assert.match(out, /\/\.local\/bin is not in PATH\./);
      assert.deepEqual(below(join(home, '.local')), installed);
      const program = join(home, '.local/bin/mcp-sitter');
      assert.equal(execFileSync(program, ['--version'], { encoding: 'utf8' }), 'mcp-sitter 0.3.0\n');
      assert.deepEqual(readdirSync(dirname(home)), ['Jörg Ümlaut']);

      const removed = await run(['--uninstall'], { shell });
      assert.deepEqual({ code: removed.code, err: removed.err }, { code: 0, err: '' });
      assert.deepEqual(readdirSync(join(home, '.local')), []);
    });

    test('a wrong sum, a cut download and a missing file install nothing', async () => {
      await failsWith(/not the file that SHA256SUMS names/, ['--version', '0.9.2'], { shell });
      await failsWith(/could not be downloaded|not the file/, ['--version', '0.9.1'], { shell });
      await failsWith(/0\.9\.6.*could not be downloaded/, ['--version', '0.9.6'], { shell });
      await failsWith(/has no THIRD-PARTY-NOTICES\.txt/, ['--version', '0.9.3'], { shell });
      await failsWith(/nothing was installed/, ['--version', '0.9.5'], { shell });
      await failsWith(/does not run on this system/, ['--version', '0.9.4'], { shell });
      await failsWith(/v7\.7\.7\/SHA256SUMS could not be downloaded/, ['--version', '7.7.7'], { shell });
    });
  });
}

test('installs twice, over another version, and the version that was asked for', async () => {
  const { home, install, below } = newcomer();
  const version = () => execFileSync(join(home, 'my tools/bin/mcp-sitter'), { encoding: 'utf8' });
  for (const [words, expected] of [
    [['--version', 'v0.2.0'], '0.2.0'],
    [[], '0.3.0'],
    [[], '0.3.0'],
    [['--version', '0.2.0'], '0.2.0'],
  ]) {
    const { code, err } = await install([...words, '--prefix', 'my tools']);
    assert.deepEqual({ code, err }, { code: 0, err: '' });
    assert.equal(version(), `mcp-sitter ${expected}\n`);
    assert.deepEqual(below(join(home, 'my tools')), installed);
    const page = readFileSync(join(home, 'my tools/share/man/man1/mcp-sitter.1'), 'utf8');
    assert.equal(page, `share/man/man1/mcp-sitter.1 of ${expected}\n`);
  }
});

test('a failed update leaves the older version as it was', async () => {
  const { home, install, below } = newcomer();
  await install(['--version', '0.2.0']);
  const before = readFileSync(join(home, '.local/bin/mcp-sitter'));
  assert.equal((await install(['--version', '0.9.2'])).code, 1);
  rmSync(join(home, '.local/share/man/man1/mcp-sitter.1'));
  mkdirSync(join(home, '.local/share/man/man1/mcp-sitter.1'));
  const { code, err } = await install([]);
  assert.equal(code, 1);
  assert.match(err, /man1\/mcp-sitter\.1 cannot be written; nothing was installed/);
  assert.deepEqual(readFileSync(join(home, '.local/bin/mcp-sitter')), before);
  assert.deepEqual(below(join(home, '.local')), installed.filter((name) => !name.endsWith('.1')));
});

test('uninstalling leaves the files of others alone', async () => {
  const { home, run, install, below } = newcomer();
  mkdirSync(join(home, '.local/bin'), { recursive: true });
  writeFileSync(join(home, '.local/bin/other'), '');
  await install();
  await run(['--uninstall']);
  assert.deepEqual(below(home), ['.local/bin/other']);
  assert.equal(existsSync(join(home, '.local/share')), false);
  assert.match((await run(['--uninstall'])).err, /there is no mcp-sitter of this script below/);
});

test('says nothing of PATH if the folder is in it', async () => {
  const { home, install } = newcomer();
  const { out } = await install([], { path: `${home}/.local/bin:${process.env.PATH}` });
  assert.doesNotMatch(out, /PATH/);
});

const systems = {
  'with curl and sha256sum': () => folderOfPrograms('curl', 'sha256sum'),
  'with wget and sha256sum': () => folderOfPrograms('wget', 'sha256sum'),
  'with curl and shasum': () => folderOfPrograms('curl', 'shasum', 'perl'),
  'with BusyBox alone': folderOfBusybox,
};
for (const [name, folder] of Object.entries(systems)) {
  test(`installs ${name}`, async () => {
    const { home, install, below } = newcomer();
    const { code, err } = await install([], { path: folder() });
    assert.deepEqual({ code, err }, { code: 0, err: '' });
    assert.deepEqual(below(join(home, '.local')), installed);
  });
}

test('a missing tool is named', async () => {
  await failsWith(/needs curl or wget/, [], { path: folderOfPrograms('sha256sum') });
  await failsWith(/needs sha256sum or shasum/, [], { path: folderOfPrograms('curl') });
});

/** A folder of programs where this system is played. */
function folderWithUname(system, machine) {
  const folder = folderOfPrograms('curl', 'sha256sum');
  rmSync(join(folder, 'uname'));
  const uname = `#!/bin/sh\ncase $1 in -s) echo ${system} ;; -m) echo ${machine} ;; esac\n`;
  writeFileSync(join(folder, 'uname'), uname, { mode: 0o755 });
  return folder;
}

test('a shell on Windows is told of the archive for Windows', async () => {
  const path = folderWithUname('MINGW64_NT-10.0', 'x86_64');
  await failsWith(/this is for Linux and macOS; for Windows, take the \.zip from https:\S+\/releases\/latest\n/, [], { path });
});

for (const [system, machine, name, translated = '0'] of [
  ['Linux', 'riscv64', 'linux-riscv64'],
  ['FreeBSD', 'amd64', 'FreeBSD-x64'],
  ['Darwin', 'arm64', 'darwin-arm64'],
  ['Darwin', 'x86_64', 'darwin-x64'],
  ['Darwin', 'x86_64', 'darwin-arm64', '1'],
]) {
  const underRosetta = translated === '1' ? ', under Rosetta' : '';
  test(`a system without a program is named: ${name}${underRosetta}`, async () => {
    const folder = folderWithUname(system, machine);
    writeFileSync(join(folder, 'sysctl'), `#!/bin/sh\necho ${translated}\n`, { mode: 0o755 });
    await failsWith(new RegExp(`no program for ${name}, only for plan9-mips, ${platform}\n`), [], { path: folder });
  });
}

test('says how to undo it and how to set PATH in the words of a shell', async () => {
  const { home, run, install } = newcomer();
  const { out } = await install(['--prefix', "it's $HOME"]);
  const [, undo] = out.match(/run this script with: (.*)\n/);
  const [, setPath] = out.match(/Add it with: (.*)\n/);
  const say = `set -- ${undo}\n${setPath}\nprintf '%s\\n' "$@" "$PATH"`;
  assert.deepEqual(execFileSync('/bin/sh', ['-c', say], { encoding: 'utf8', env: { PATH: '/a b' } }).split('\n'), [
    '--uninstall',
    '--prefix',
    `${home}/it's $HOME`,
    `${home}/it's $HOME/bin:/a b`,
    '',
  ]);
  assert.equal((await run(['--uninstall', '--prefix', "it's $HOME"])).code, 0);
});

test('a prefix may end with slashes', async () => {
  const { home, install } = newcomer();
  const { out } = await install(['--prefix', 'tools//'], { path: `${home}/tools/bin:${process.env.PATH}` });
  assert.equal(
    out,
    `mcp-sitter 0.3.0 is installed: ${home}/tools/bin/mcp-sitter\n` +
      `To undo this, run this script with: --uninstall --prefix '${home}/tools'\n`,
  );
});

describe('the list of sums', () => {
  for (const [version, [what]] of Object.entries(lists)) {
    test(`may have ${what}`, async () => {
      const { code, err } = await newcomer().install(['--version', version]);
      assert.deepEqual({ code, err }, { code: 0, err: '' });
    });
  }

  for (const [version, [what]] of Object.entries(noLists)) {
    test(`must not be ${what}`, async () => {
      const sentence = new RegExp(`^install\\.sh: .*/v${version}/SHA256SUMS is not a list of archives; [^\n]*\n$`);
      await failsWith(sentence, ['--version', version]);
    });
  }
});

describe('a download', () => {
  /** How this program was called when the script downloaded from an address. The program downloads nothing. */
  async function wordsOf(program, from) {
    const folder = folderOfPrograms('sha256sum');
    const log = join(folder, 'log');
    const text = `#!/bin/sh\ntest "$1" != --version || exit 0\necho "$*" >'${log}'\nexit 1\n`;
    writeFileSync(join(folder, program), text, { mode: 0o755 });
    assert.equal((await newcomer().run(['--from', from], { path: folder })).code, 1);
    return readFileSync(log, 'utf8');
  }

  test('that makes no progress ends', async () => {
    assert.match(await wordsOf('curl', 'https://x.test'), /--connect-timeout 30 --speed-limit 1 --speed-time 60 /);
    assert.match(await wordsOf('wget', 'https://x.test'), /-T 60 /);
  });

  test('from https is never redirected to http', async () => {
    assert.match(await wordsOf('curl', 'https://x.test'), /--proto-redir =https /);
    assert.match(await wordsOf('curl', 'http://x.test'), /--proto-redir =http,https /);
  });
});

test('programs need not run in the folder for temporary files', async () => {
  const { install } = newcomer();
  const TMPDIR = mkdtempSync(join(root, 'tmp-'));
  const { code, err } = await install(['--version', '0.9.7'], { env: { TMPDIR } });
  assert.deepEqual({ code, err }, { code: 0, err: '' });
  assert.deepEqual(readdirSync(TMPDIR), []);
});

for (const shell of [['dash'], ['busybox', 'sh'], ['bash', '--posix']]) {
  describe(`interrupted with ${shell.join(' ')}`, () => {
    test('leaves nothing behind when nobody reads what it says', async () => {
      const { home, install, below } = newcomer();
      const failed = await install(['--version', '0.9.2'], { shell, closed: ['stderr'] });
      assert.equal(failed.code, 1);
      assert.deepEqual(readdirSync(home), []);
      const { code } = await install([], { shell, closed: ['stdout'] });
      assert.equal(code, 0);
      assert.deepEqual(below(join(home, '.local')), installed);
      assert.deepEqual(readdirSync(dirname(home)), ['Jörg Ümlaut']);
    });

    for (const signal of ['HUP', 'INT', 'TERM', 'PIPE']) {
      test(`by ${signal} while it downloads leaves nothing behind`, async () => {
        await failsWith(/^$/, [], { shell, path: pathWith('curl', `kill -${signal} $PPID`) });
      });

      test(`by ${signal} while files get their names finishes`, async () => {
        const { home, install, below } = newcomer();
        const path = pathWith('mv', `test "$1" != -f || kill -${signal} $PPID\nexec REAL "$@"`);
        const { code, err } = await install([], { shell, path });
        assert.deepEqual({ code, err }, { code: 0, err: '' });
        assert.deepEqual(below(home), installed.map((name) => `.local/${name}`).sort());
      });
    }

    test('a second time while it cleans up leaves nothing behind', async () => {
      const path = pathWith('rm', 'kill -TERM $PPID\nexec REAL "$@"');
      await failsWith(/does not run/, ['--version', '0.9.4'], { shell, path });
    });

    test('by the end of the script within its last line does nothing', async () => {
      const text = readFileSync(script, 'utf8');
      const last = text.trimEnd().lastIndexOf('\n') + 1;
      const end = text.trimEnd().length;
      const { home, below } = newcomer();
      const cut = join(root, 'cut.sh');
      for (let at = last + 1; at < end; at += 1) {
        writeFileSync(cut, text.slice(0, at));
        const options = { encoding: 'utf8', env: { ...process.env, HOME: home } };
        const { status, stdout, stderr } = spawnSync(shell[0], [...shell.slice(1), cut, '--help'], options);
        assert.notEqual(status, 0, text.slice(last, at));
        assert.equal(stdout, '');
        assert.match(stderr, /syntax error|unexpected/i);
      }
      assert.deepEqual(below(home), []);
    });
  });
}

test('a file that cannot be replaced is named, and the installation can be removed', async () => {
  const { home, run, install, below } = newcomer();
  const path = pathWith('mv', 'case $3 in */_mcp-sitter) exit 1 ;; esac\nexec REAL "$@"');
  const { code, err } = await install([], { path });
  assert.equal(code, 1);
  assert.match(err, /^install\.sh: .*\/_mcp-sitter could not be replaced, [^\n]*; run this script again\n$/);
  assert.equal(existsSync(join(home, '.local/bin/mcp-sitter')), false);
  assert.equal((await run(['--uninstall'])).code, 0);
  assert.deepEqual(below(home), []);
});

test('a failed installation leaves the empty folders that were there', async () => {
  const { home, install } = newcomer();
  mkdirSync(join(home, '.local/share/man'), { recursive: true });
  mkdirSync(join(home, '.local/bin'));
  for (const version of ['0.9.4', '0.9.5']) {
    assert.equal((await install(['--version', version])).code, 1);
    assert.deepEqual(readdirSync(home, { recursive: true }).sort(), [
      '.local',
      '.local/bin',
      '.local/share',
      '.local/share/man',
    ]);
  }
  assert.equal((await install(['--version', '0.9.4', '--prefix', './a//b/.'])).code, 1);
  assert.deepEqual(readdirSync(home), ['.local']);
});

test('a command of npm is not replaced', async () => {
  const { home, install } = newcomer();
  const command = join(home, '.local/bin/mcp-sitter');
  mkdirSync(dirname(command), { recursive: true });
  symlinkSync('../lib/node_modules/mcp-sitter-native/bin/mcp-sitter.mjs', command);
  const { code, err } = await install();
  assert.equal(code, 1);
  assert.match(err, /^install\.sh: [^\n]*\/bin\/mcp-sitter belongs to npm; run first: npm uninstall [^\n]*\n$/);
  assert.ok(lstatSync(command).isSymbolicLink());
});

test('uninstalling leaves what npm or CMake has installed', async () => {
  const { home, run, install } = newcomer();
  const links = ['bin/mcp-sitter', 'share/man/man1/mcp-sitter.1'].map((name) => join(home, '.local', name));
  const link = (path) => {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    symlinkSync(join(home, 'package'), path);
  };
  const refuses = async () => {
    const { code, err } = await run(['--uninstall']);
    assert.equal(code, 1);
    assert.match(err, /^install\.sh: there is no mcp-sitter of this script below [^\n]*\n$/);
  };
  writeFileSync(join(home, 'package'), '');
  links.forEach(link);
  await refuses();
  // cmake --install puts only a program there.
  links.forEach((path) => rmSync(path));
  writeFileSync(links[0], '');
  await refuses();
  assert.ok(existsSync(links[0]));

  await install();
  links.forEach(link);
  assert.equal((await run(['--uninstall'])).code, 0);
  for (const path of links) assert.ok(lstatSync(path).isSymbolicLink());
});

test('a file that cannot be removed is named', async () => {
  const { run, install } = newcomer();
  await install();
  const { code, err } = await run(['--uninstall'], { path: pathWith('rm', 'exit 1') });
  assert.equal(code, 1);
  assert.match(err, /^install\.sh: .*\/bin\/mcp-sitter could not be removed[^\n]*\n$/);
});

test('what root installs can be read by all', { skip: process.getuid() !== 0 && 'only root does this' }, async () => {
  const { home, install } = newcomer();
  mkdirSync(join(home, 'opt'), { mode: 0o700 });
  await install(['--prefix', 'opt/mcp-sitter'], { shell: ['sh', '-c', 'umask 077; exec sh "$@"', 'sh'] });
  const modes = readdirSync(join(home, 'opt'), { recursive: true }).map((name) => {
    const { mode } = statSync(join(home, 'opt', name));
    return (mode & 0o777).toString(8);
  });
  assert.deepEqual([...new Set(modes)].sort(), ['644', '755']);
  assert.equal(statSync(join(home, 'opt')).mode & 0o777, 0o700);
});

test('a wrong command line is one sentence', async () => {
  const { home, run } = newcomer();
  const wrong = [
    [['--prefix'], '--prefix needs a word after it'],
    [['--prefix', '--uninstall'], '--prefix needs a word after it'],
    [['--from', ''], '--from needs a word after it'],
    [['--version', 'v'], '--version needs a number, as 0.3.0'],
    [['--sudo'], 'there is no option --sudo; --help shows all options'],
    [['tools'], 'there is no option tools; --help shows all options'],
    [['--version', '0.9.0', '--uninstall'], '--uninstall takes no --version'],
    [['--uninstall', '--from', 'http://127.0.0.1:9'], '--uninstall takes no --from'],
  ];
  for (const [words, sentence] of wrong) {
    assert.deepEqual(await run(words), { code: 2, out: '', err: `install.sh: ${sentence}\n` });
  }
  assert.deepEqual(readdirSync(home), []);
  assert.match((await run(['--help'])).out, /--uninstall/);
});

test('a missing HOME or TMPDIR is one sentence', async () => {
  const { run } = newcomer();
  const sentences = {
    HOME: 'HOME is not set; name a folder with --prefix',
    TMPDIR: 'no temporary folder could be made in /no/such; let TMPDIR name another folder',
  };
  for (const [name, sentence] of Object.entries(sentences)) {
    const env = name === 'HOME' ? { HOME: undefined } : { TMPDIR: '/no/such' };
    assert.deepEqual(await run([], { env }), { code: 1, out: '', err: `install.sh: ${sentence}\n` });
  }
});
