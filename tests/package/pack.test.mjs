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

/** The start of a program for another machine; `version` is a text in it. */
function forAnother(format, machine, version) {
  const head = Buffer.alloc(256);
  if (format === 'elf') {
    head.write('\x7fELF\x02\x01', 'latin1');
    head.writeUInt16LE(2, 16);
    head.writeUInt16LE(machine, 18);
  } else {
    head.writeUInt32LE(0xfeedfacf, 0);
    head.writeUInt32LE(machine, 4);
    head.writeUInt32LE(2, 12);
  }
  head.write(`${version}\0`, 128);
  return head;
}

const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).match(/\d+\.\d+\.\d+/)[0];

test('the same programs give the same packages, whatever the hour, the umask and the modes', () => {
  // Another version of Node.js may compress in another way.
  const sums = (program, shell) => {
    const { status, stderr } = packs([`${own}=${program}`], shell);
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
  assert.deepEqual(named, readdirSync(packed).filter((name) => /\.(tgz|tar\.gz)$/.test(name)).sort());
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

test('what is not packed is named, and the command asks only for what is packed', () => {
  const words = [`${own}=${program}`, `darwin-arm64=${built('mac', forAnother('mach-o', 0x0100000c, version))}`];
  const { status, stdout, stderr } = packs(words);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^not packed: linux-arm64, darwin-x64 \(no binary was given\); win32-x64 \(planned\)$/m);
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
    'a planned platform': [`win32-x64=${program}`, /win32-x64 is planned/],
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

  test('a release that lacks a supported platform', () => {
    const { status, stderr } = packs(['--all', `${own}=${program}`]);
    assert.equal(status, 1);
    assert.match(stderr, /^pack: not packed: [^\n]*darwin-x64 \(no binary was given\)/);
  });
});
