// packaging/install.sh, which installs a release for people without Node.js.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
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

/** Adds a release with an archive for this platform and for another one. `files` changes what is in the archives. */
function release(version, { files, cutAt, wrongSum = false } = {}) {
  const folder = mkdtempSync(join(root, 'release-'));
  const names = ['plan9-mips', platform].map((each) => packArchive(folder, version, each, files));
  const text = sums(folder, names);
  for (const name of names) releases.add(version, name, readFileSync(join(folder, name)), cutAt);
  releases.add(version, 'SHA256SUMS', Buffer.from(wrongSum ? text.replaceAll(/^./gm, 'x') : text));
}

before(async () => {
  root = mkdtempSync(join(tmpdir(), 'sitter-install-'));
  releases = await Releases.start();
  release('0.2.0');
  release('0.9.1', { cutAt: 100 });
  release('0.9.2', { wrongSum: true });
  release('0.9.3', { files: { 'THIRD-PARTY-NOTICES.txt': null } });
  release('0.9.4', { files: { 'bin/mcp-sitter': '#!/bin/sh\nexit 126\n' } });
  release('0.9.5', { files: { 'share/man/man1/mcp-sitter.1': null } });
  releases.add('0.9.6', 'SHA256SUMS', Buffer.from(`00  mcp-sitter-0.9.6-${platform}.tar.gz\n`));
  release('0.3.0');
});
after(() => {
  releases.close();
  rmSync(root, { recursive: true, force: true });
});

const needed = ['cp', 'cut', 'gzip', 'mkdir', 'mktemp', 'mv', 'rm', 'rmdir', 'sh', 'tar', 'uname'];
const pathOf = (name) => execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();

/** A folder with links to the programs that the script needs, and to `more`. */
function folderOfPrograms(...more) {
  const folder = mkdtempSync(join(root, 'bin-'));
  for (const name of [...needed, ...more]) symlinkSync(pathOf(name), join(folder, name));
  return folder;
}

/** The same with BusyBox as every program. */
function folderOfBusybox() {
  const folder = mkdtempSync(join(root, 'bin-'));
  for (const name of [...needed, 'wget', 'sha256sum']) symlinkSync(pathOf('busybox'), join(folder, name));
  return folder;
}

/** Runs the script in an empty HOME, and returns its exit code, its output and what is in HOME then. */
function newcomer() {
  const home = join(mkdtempSync(join(root, 'home-')), 'Jörg Ümlaut');
  mkdirSync(home);
  const run = async (words, { shell = ['sh'], path = process.env.PATH, env = {} } = {}) => {
    const [command, ...first] = shell;
    const child = spawn(command, [...first, script, ...words], {
      env: { HOME: home, PATH: path, LANG: 'C.UTF-8', TMPDIR: dirname(home), ...env },
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
  assert.match((await run(['--uninstall'])).err, /there is no mcp-sitter below/);
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

for (const [system, machine, name, translated = '0'] of [
  ['Linux', 'riscv64', 'linux-riscv64'],
  ['FreeBSD', 'amd64', 'FreeBSD-x64'],
  ['MINGW64_NT-10.0', 'x86_64', 'win32-x64'],
  ['Darwin', 'arm64', 'darwin-arm64'],
  ['Darwin', 'x86_64', 'darwin-x64'],
  ['Darwin', 'x86_64', 'darwin-arm64', '1'],
]) {
  const underRosetta = translated === '1' ? ', under Rosetta' : '';
  test(`a system without a program is named: ${name}${underRosetta}`, async () => {
    const folder = folderOfPrograms('curl', 'sha256sum');
    rmSync(join(folder, 'uname'));
    const uname = `#!/bin/sh\ncase $1 in -s) echo ${system} ;; -m) echo ${machine} ;; esac\n`;
    writeFileSync(join(folder, 'uname'), uname, { mode: 0o755 });
    writeFileSync(join(folder, 'sysctl'), `#!/bin/sh\necho ${translated}\n`, { mode: 0o755 });
    await failsWith(new RegExp(`no program for ${name}, only for plan9-mips, ${platform}\n`), [], { path: folder });
  });
}

test('a wrong command line is one sentence', async () => {
  const { run } = newcomer();
  assert.match((await run(['--prefix'])).err, /^install\.sh: --prefix needs a word after it\n$/);
  assert.match((await run(['--sudo'])).err, /^install\.sh: there is no option --sudo; [^\n]*\n$/);
  assert.match((await run([], { env: { HOME: '' } })).err, /HOME is not set/);
  assert.match((await run(['--help'])).out, /--uninstall/);
});
