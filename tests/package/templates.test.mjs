// What is filled for Homebrew, Arch Linux, winget and Scoop, for small archives of the shape of the real ones.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { zipOf } from '../../npm/archive.mjs';
import { projectVersion } from '../../packaging/version.mjs';
import { projectDir } from '../real/support/documents.mjs';
import { documents, packArchive, placed, sums } from '../packaging/release_folder.mjs';
import { faultsIn, ruled } from './published_rules.mjs';

const version = projectVersion();
const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];
let folder;

const fill = () => spawnSync(process.execPath, [join(projectDir, 'packaging/templates.mjs'), folder], { encoding: 'utf8' });
const archiveOf = (platform) => `mcp-sitter-${version}-${platform}.${platform === 'win32-x64' ? 'zip' : 'tar.gz'}`;
const sumOf = (platform) => sums(folder, [archiveOf(platform)]).split(' ')[0];
const addressOf = (platform) =>
  `https://github.com/mcp-sitter/mcp-sitter/releases/download/v${version}/${archiveOf(platform)}`;

function archiveForWindows() {
  const name = `mcp-sitter-${version}-win32-x64`;
  mkdirSync(join(folder, name, 'bin'), { recursive: true });
  writeFileSync(join(folder, name, 'bin/mcp-sitter.exe'), '');
  return zipOf(folder, name);
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitter-templates-'));
  // So that another user than root can build in it.
  chmodSync(folder, 0o777);
  const names = platforms.map((platform) => packArchive(folder, version, platform));
  writeFileSync(join(folder, archiveOf('win32-x64')), archiveForWindows());
  writeFileSync(join(folder, 'SHA256SUMS'), sums(folder, [...names, archiveOf('win32-x64')]));
  const { status, stderr } = fill();
  assert.equal(status, 0, stderr);
});
after(() => rmSync(folder, { recursive: true, force: true }));

// What Homebrew's formulae can say, as far as this one says it. It prints what is downloaded, and where the files go.
const homebrew = `
class Formula
  class << self
    def test = nil
    def method_missing(name, *words)
      if block_given?
        ($where ||= []).push(name.to_s.sub("on_", ""))
        yield
        $where.pop
      elsif %i[url sha256 version].include?(name)
        puts [*$where, name, *words].join(" ")
      end
    end
  end
  Place = Struct.new(:name) do
    def install(*files) = files.each { |file| puts [name, file, File.file?(file)].join(" ") }
  end
  def method_missing(name) = Place.new(name)
end
load ARGV[0]
McpSitter.new.install
`;

test('the formula downloads the archive of each platform, and installs all of its files', () => {
  const formula = join(folder, 'mcp-sitter.rb');
  assert.equal(execFileSync('ruby', ['-wc', formula], { encoding: 'utf8' }), 'Syntax OK\n');
  const cwd = join(folder, `mcp-sitter-${version}-linux-x64`);
  const said = execFileSync('ruby', ['-e', homebrew, formula], { encoding: 'utf8', cwd }).trim().split('\n');
  const places = ['macos arm', 'macos intel', 'linux arm', 'linux intel'];
  const downloads = platforms.flatMap((platform, index) => [
    `${places[index]} url ${addressOf(platform)}`,
    `${places[index]} sha256 ${sumOf(platform)}`,
  ]);
  assert.deepEqual(said.slice(0, 9), [`version ${version}`, ...downloads]);
  const files = said.slice(9).map((line) => line.match(/^\S+ (\S+) true$/)?.[1] ?? line);
  assert.deepEqual(files.sort(), [...placed, ...documents].sort());
});

test('the PKGBUILD names the archives with their sums', () => {
  // makepkg looks for pacman, which it does not need here, and refuses to run as root.
  const env = { PATH: process.env.PATH, HOME: folder, PACMAN: 'true' };
  const nobody = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {};
  const info = execFileSync('makepkg', ['--printsrcinfo'], { cwd: folder, encoding: 'utf8', env, ...nobody });
  const lines = info.trim().split('\n').map((line) => line.trim());
  for (const line of [
    'pkgbase = mcp-sitter-bin',
    `pkgver = ${version}`,
    `source_x86_64 = ${addressOf('linux-x64')}`,
    `sha256sums_x86_64 = ${sumOf('linux-x64')}`,
    `source_aarch64 = ${addressOf('linux-arm64')}`,
    `sha256sums_aarch64 = ${sumOf('linux-arm64')}`,
  ]) {
    assert.ok(lines.includes(line), `${line}\n${info}`);
  }
});

test('the PKGBUILD installs all files of an archive', () => {
  const source = join(folder, 'source');
  const target = join(folder, 'target');
  mkdirSync(source);
  execFileSync('tar', ['-xzf', join(folder, archiveOf('linux-arm64')), '-C', source]);
  const script = `set -eu; . '${folder}/PKGBUILD'; pkgdir='${target}'; package`;
  execFileSync('bash', ['-c', script], { cwd: source });
  const files = readdirSync(target, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1));
  const legal = ['LICENSE', 'THIRD-PARTY-NOTICES.txt'].map((name) => `usr/share/licenses/mcp-sitter-bin/${name}`);
  const expected = [...placed.map((name) => `usr/${name}`), ...legal, 'usr/share/doc/mcp-sitter/README.md'];
  assert.deepEqual(files.sort(), expected.sort());
  const program = execFileSync(join(target, 'usr/bin/mcp-sitter'), ['--version'], { encoding: 'utf8' });
  assert.equal(program, `mcp-sitter ${version}\n`);
});

describe('for Windows', () => {
  const textOf = (file) => readFileSync(join(folder, file), 'utf8');
  const parsed = (file) => {
    if (file.endsWith('.json')) return JSON.parse(textOf(file));
    return createRequire(join(projectDir, 'packaging/lint/package.json'))('yaml').parse(textOf(file));
  };
  const packed = () => execFileSync('unzip', ['-Z1', join(folder, archiveOf('win32-x64'))], { encoding: 'utf8' }).split('\n');

  for (const file of ruled) {
    test(`${file} keeps the rules of its schema, which find a fault`, () => {
      const manifest = parsed(file);
      assert.equal(faultsIn(file, manifest), '');
      assert.equal(manifest.PackageVersion ?? manifest.version, version);
      for (const key of Object.keys(manifest)) {
        const { [key]: left, ...others } = manifest;
        assert.match(faultsIn(file, others), new RegExp(`must have required property '${key}'`), `without ${key}`);
      }
      assert.match(faultsIn(file, { ...manifest, other: 1 }), /must NOT have additional properties/);
    });
  }

  test('winget gets the archive and the place of the program in it', () => {
    const { Installers, NestedInstallerFiles } = parsed('mcp-sitter.mcp-sitter.installer.yaml');
    assert.deepEqual(Installers, [
      { Architecture: 'x64', InstallerUrl: addressOf('win32-x64'), InstallerSha256: sumOf('win32-x64') },
    ]);
    assert.ok(packed().includes(NestedInstallerFiles[0].RelativeFilePath.replaceAll('\\', '/')));
  });

  test('the three files of winget name one package', () => {
    const names = ruled.filter((file) => file.endsWith('.yaml')).map((file) => parsed(file).PackageIdentifier);
    assert.deepEqual([...new Set(names)], ['mcp-sitter.mcp-sitter']);
  });

  test('Scoop gets the archive and the place of the program in it', () => {
    const { architecture, bin } = parsed('mcp-sitter.json');
    const { url, hash, extract_dir: folderIn } = architecture['64bit'];
    assert.deepEqual([url, hash], [addressOf('win32-x64'), sumOf('win32-x64')]);
    assert.ok(packed().includes(`${folderIn}/${bin.replaceAll('\\', '/')}`));
  });
});

test('a missing archive is named', () => {
  const path = join(folder, 'SHA256SUMS');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/.*darwin-x64.*\n/, ''));
  const { status, stderr } = fill();
  assert.equal(status, 1);
  assert.match(stderr, /^templates: .* has no mcp-sitter-.*-darwin-x64\.tar\.gz; [^\n]*\n$/);
});
