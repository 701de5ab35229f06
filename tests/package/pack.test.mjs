// What npm/pack.mjs refuses to pack, and that the same programs give the same bytes.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packed } from './places.mjs';

const project = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const own = `${process.platform}-${process.arch}`;
const root = mkdtempSync(join(tmpdir(), 'sitter-pack-'));
after(() => rmSync(root, { recursive: true, force: true }));

const packs = (words, shell = 'exec "$@"') => {
  const command = [process.execPath, join(project, 'npm/pack.mjs'), '--out', join(root, 'out'), ...words];
  return spawnSync('sh', ['-c', shell, 'sh', ...command], { encoding: 'utf8' });
};

/** A folder with a program and, as a build for another machine leaves them, its notices. */
function built(name, bytes, mode = 0o755) {
  const bin = join(root, name, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = join(bin, 'mcp-sitter');
  writeFileSync(program, bytes, { mode });
  const notices = 'THIRD-PARTY-NOTICES.txt';
  copyFileSync(join(packed, 'npm', own, notices), join(bin, notices));
  return program;
}

const bytes = readFileSync(join(packed, 'programs', own, 'mcp-sitter'));
const program = built('good', bytes);

/** The program with another type in its head. */
function withType(type) {
  const changed = Buffer.from(bytes);
  changed.writeUInt16LE(type, 16);
  return changed;
}

/** The start of a program for another machine; `version` is a text in it. `kind` is that of a program for Windows. */
function forAnother(format, machine, version, kind = 0x0002) {
  const head = Buffer.alloc(256);
  if (format === 'elf') {
    head.write('\x7fELF\x02\x01', 'latin1');
    head.writeUInt16LE(2, 16);
    head.writeUInt16LE(machine, 18);
  } else if (format === 'pe') {
    head.write('MZ');
    head.writeUInt32LE(64, 60);
    head.write('PE', 64);
    head.writeUInt16LE(machine, 68);
    // One section, which ends the file.
    head.writeUInt16LE(1, 70);
    head.writeUInt16LE(kind, 86);
    head.writeUInt32LE(256, 88 + 16);
  } else {
    head.writeUInt32LE(0xfeedfacf, 0);
    head.writeUInt32LE(machine, 4);
    head.writeUInt32LE(2, 12);
  }
  head.write(`${version}\0`, 128);
  return head;
}

const x64Pe = 0x8664;
const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).match(/\d+\.\d+\.\d+/)[0];

const forWindows = () => `win32-x64=${built('windows', forAnother('pe', x64Pe, version))}`;

test('the same programs give the same packages, whatever the hour, the umask and the modes', () => {
  // Another version of Node.js may compress in another way.
  const sums = (program, shell) => {
    const { status, stderr } = packs([`${own}=${program}`, forWindows()], shell);
    assert.equal(status, 0, stderr);
    return readFileSync(join(root, 'out/SHA256SUMS'), 'utf8');
  };
  const hidden = built('private', bytes);
  chmodSync(hidden, 0o700);
  assert.equal(sums(hidden, 'umask 077; export TZ=Asia/Tokyo LANG=C; exec "$@"'), sums(program));
});

test('the sums are those of all packages and archives', () => {
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: packed });
  const named = readFileSync(join(packed, 'SHA256SUMS'), 'utf8').trim().split('\n').map((line) => line.split('  ')[1]);
  assert.deepEqual(named, readdirSync(packed).filter((name) => /\.(tgz|tar\.gz|zip)$/.test(name)).sort());
});

test('the archive holds what a system needs, below one folder', () => {
  const folder = `mcp-sitter-${version}-${own}`;
  const listed = execFileSync('tar', ['-tzf', join(packed, `${folder}.tar.gz`)], { encoding: 'utf8' });
  const files = listed.trim().split('\n');
  assert.deepEqual(
    files.filter((name) => !name.endsWith('/')).map((name) => name.replace(`${folder}/`, '')).sort(),
    [
      'LICENSE',
      'README.md',
      'THIRD-PARTY-NOTICES.txt',
      'bin/mcp-sitter',
      'share/bash-completion/completions/mcp-sitter',
      'share/fish/vendor_completions.d/mcp-sitter.fish',
      'share/man/man1/mcp-sitter.1',
      'share/zsh/site-functions/_mcp-sitter',
    ],
  );
  execFileSync('tar', ['-xzf', join(packed, `${folder}.tar.gz`), '-C', root]);
  assert.match(execFileSync(join(root, folder, 'bin/mcp-sitter'), ['--version'], { encoding: 'utf8' }), /^mcp-sitter /);
});

test('the archive for Windows is a .zip with what that system needs, and its sum is listed', () => {
  const { status, stderr } = packs([`${own}=${program}`, forWindows()]);
  assert.equal(status, 0, stderr);
  const out = join(root, 'out');
  const folder = `mcp-sitter-${version}-win32-x64`;
  execFileSync('unzip', ['-q', join(out, `${folder}.zip`), '-d', root]);
  const files = readdirSync(join(root, folder), { recursive: true }).sort();
  assert.deepEqual(files, ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES.txt', 'bin', 'bin/mcp-sitter.exe']);
  assert.deepEqual(readFileSync(join(root, folder, 'bin/mcp-sitter.exe')), forAnother('pe', x64Pe, version));
  execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out });
  assert.match(readFileSync(join(out, 'SHA256SUMS'), 'utf8'), /win32-x64\.zip$/m);
});

test('the package for Windows has the program by the name that Windows runs', () => {
  const listed = execFileSync('tar', ['-tzf', join(root, `out/mcp-sitter-win32-x64-${version}.tgz`)], { encoding: 'utf8' });
  assert.ok(listed.split('\n').includes('package/bin/mcp-sitter.exe'), listed);
  const text = (name) => readFileSync(join(root, 'out/npm/win32-x64', name), 'utf8');
  const { os, cpu } = JSON.parse(text('package.json'));
  assert.deepEqual([os, cpu], [['win32'], ['x64']]);
  assert.match(text('README.md'), /the file `bin\/mcp-sitter\.exe`/);
});

test('what is not packed is named, and the command asks only for what is packed', () => {
  const words = [`${own}=${program}`, `darwin-arm64=${built('mac', forAnother('mach-o', 0x0100000c, version))}`];
  const { status, stdout, stderr } = packs(words);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^not packed: linux-arm64, darwin-x64, win32-x64 \(no binary was given\)$/m);
  const manifest = (name) => JSON.parse(readFileSync(join(root, 'out/npm', name, 'package.json')));
  assert.deepEqual(manifest('mcp-sitter-native').optionalDependencies, {
    [`@mcp-sitter/${own}`]: version,
    '@mcp-sitter/darwin-arm64': version,
  });
  const { name, os, cpu } = manifest('darwin-arm64');
  assert.deepEqual([name, os, cpu], ['@mcp-sitter/darwin-arm64', ['darwin'], ['arm64']]);
});

test('a program for another machine is packed alone', () => {
  const { status, stdout, stderr } = packs([`darwin-x64=${built('intel', forAnother('mach-o', 0x01000007, version))}`]);
  assert.equal(status, 0, stderr);
  assert.match(stdout, new RegExp(`^not packed: ${own}, `, 'm'));
  assert.ok(readdirSync(join(root, 'out')).includes(`mcp-sitter-${version}-darwin-x64.tar.gz`));
});

describe('it refuses', () => {
  const bare = join(root, 'bare');
  writeFileSync(bare, bytes, { mode: 0o755 });
  const script = `#!/bin/sh\necho mcp-sitter 9.9.9\n`;
  const refused = {
    'a word that is no pair': ['nonsense', /'nonsense' is not PLATFORM=BINARY/],
    'an unknown platform': [`sunos-x64=${program}`, /no platform 'sunos-x64', only linux-x64, /],
    'a program for Windows that is none': [`win32-x64=${program}`, /is not a program for Windows on x86-64/],
    'a library for Windows': [`win32-x64=${built('dll', forAnother('pe', x64Pe, version, 0x2002))}`, /is not a program for Windows/],
    'a program for Windows that was cut': [
      `win32-x64=${built('cut-pe', forAnother('pe', x64Pe, version).subarray(0, -1))}`,
      /is not a program for Windows/,
    ],
    'a program for Windows on arm64': [`win32-x64=${built('arm-pe', forAnother('pe', 0xaa64, version))}`, /is not a program for Windows/],
    'a file that is not there': [`${own}=${root}/none`, /there is no file .*none: build it first/],
    'a program for another processor': [
      `linux-arm64=${program}`,
      /bin\/mcp-sitter is not a program for Linux on arm64/,
    ],
    'a program for another system': [`darwin-x64=${program}`, /is not a program for macOS on Intel processors/],
    'a script': [`${own}=${built('script', script)}`, /is not a program for Linux/],
    'a dynamic program': [`${own}=${built('dynamic', readFileSync('/bin/sh'))}`, /is not static/],
    'a program that was cut': [`${own}=${built('cut', bytes.subarray(0, -1000))}`, /is not a program for Linux/],
    'another version for another machine': [
      `darwin-x64=${built('old', forAnother('mach-o', 0x01000007, '0.0.1'))}`,
      /is not of version \d[^ ]*, which is to be packed/,
    ],
    'a longer version that ends with this one': [
      `darwin-x64=${built('longer', forAnother('mach-o', 0x01000007, `1${version}`))}`,
      /is not of version \d[^ ]*, which is to be packed/,
    ],
    'a core dump': [`${own}=${built('core', withType(4))}`, /is not a program for Linux/],
    'a program that may not be run': [`${own}=${built('locked', bytes, 0o600)}`, /locked.* does not run here: /],
    'a program without its notices': [`${own}=${bare}`, /THIRD-PARTY-NOTICES\.txt is missing/],
  };
  for (const [what, [word, sentence]] of Object.entries(refused)) {
    test(what, () => {
      const words = word.startsWith(own) ? [word] : [word, `${own}=${program}`];
      const { status, stderr } = packs(words);
      assert.equal(status, 1);
      assert.match(stderr, /^pack: [^\n]*\n$/);
      assert.match(stderr, sentence);
    });
  }

  test('a folder that holds something else, which stays', () => {
    const out = join(root, 'mine');
    mkdirSync(out);
    writeFileSync(join(out, 'letter'), '');
    const { status, stderr } = packs(['--out', out, `${own}=${program}`]);
    assert.equal(status, 1);
    assert.match(stderr, /^pack: .*mine holds letter, which no packing has written: name another --out/);
    assert.deepEqual(readdirSync(out), ['letter']);
  });

  test('a program in the folder that it would empty, also by a link', () => {
    const inside = built('full', bytes);
    symlinkSync(join(root, 'full'), join(root, 'link'));
    const { status, stderr } = packs(['--out', join(root, 'link'), `${own}=${inside}`]);
    assert.equal(status, 1);
    assert.match(stderr, /^pack: .* lies in .*link, which is emptied first/);
    assert.deepEqual(readFileSync(inside), bytes);
  });

  test('a file or nothing as the folder', () => {
    for (const out of [bare, '']) {
      const { status, stderr } = packs(['--out', out, `${own}=${program}`]);
      assert.equal(status, 1);
      assert.match(stderr, /^pack: --out '.*' names no folder\n$/);
    }
  });

  test('an unknown option, in one sentence', () => {
    const { status, stderr } = packs(['--no-such-option']);
    assert.equal(status, 2);
    assert.match(stderr, /^pack: Unknown option '--no-such-option'; the words are [^\n]*\n$/);
  });

  test('two programs for one platform', () => {
    assert.match(packs([`${own}=${program}`, `${own}=${program}`]).stderr, /^pack: two binaries were given for/);
  });

  test('a release that lacks a platform', () => {
    const { status, stderr } = packs(['--all', `${own}=${program}`]);
    assert.equal(status, 1);
    assert.match(stderr, /^pack: not packed: [^\n]*darwin-x64, win32-x64 \(no binary was given\)/);
  });
});
