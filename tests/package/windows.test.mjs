// The packages for Windows, made from the cross-built program, or those that are packed already. Without either, there is
// nothing to test, and this says so. What runs here runs under wine.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Binary } from '../../npm/binary.mjs';
import { projectVersion, root } from '../../packaging/version.mjs';
import { testPackedNotices } from './notices.mjs';
import * as pe from './pe.mjs';
import { packed } from './places.mjs';

const version = projectVersion();
const built = join(root, 'build/release-windows/bin/mcp-sitter.exe');
const place = mkdtempSync(join(tmpdir(), 'sitter-windows-'));
after(() => rmSync(place, { recursive: true, force: true }));

/** The folder with the packages, or nothing if there is no program. */
function packagesForWindows() {
  if (existsSync(join(packed, 'programs/win32-x64'))) return packed;
  if (!existsSync(built)) return undefined;
  const out = join(place, 'packed');
  execFileSync(process.execPath, [join(root, 'npm/pack.mjs'), '--out', out, `win32-x64=${built}`]);
  return out;
}

// What Windows 10 itself has. What these load in turn delays a start, so the program loads others when it calls them.
const systemLibraries = [
  'advapi32.dll',
  'kernel32.dll',
  'msvcrt.dll',
  'ntdll.dll',
  'ws2_32.dll',
];

function testPackages(folder) {
  const npm = join(folder, `mcp-sitter-win32-x64-${version}.tgz`);
  execFileSync('tar', ['-xzf', npm, '-C', place]);
  const file = join(place, 'package/bin/mcp-sitter.exe');
  const program = new pe.Pe(file);

  test('the program needs no library but those of the system', () => {
    const libraries = program.libraries();
    assert.ok(libraries.includes('kernel32.dll'));
    assert.deepEqual(libraries.filter((name) => !systemLibraries.includes(name)), []);
  });

  test('its manifest asks for long paths, UTF-8 and no other rights, and names Windows 10', () => {
    const manifest = program.resource(pe.RT_MANIFEST).toString();
    assert.match(manifest, /<longPathAware [^>]*>true</);
    assert.match(manifest, /<activeCodePage [^>]*>UTF-8</);
    assert.match(manifest, /<requestedExecutionLevel level="asInvoker"/);
    assert.match(manifest, /<supportedOS Id="\{8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a\}"/);
  });

  test('its version resource names this version', () => {
    const resource = program.resource(pe.RT_VERSION);
    const text = resource.toString('utf16le');
    for (const name of ['FileVersion', 'ProductVersion']) assert.match(text, new RegExp(`${name}\0+${version}\0`));
    const [major, minor, patch] = version.split('.').map(Number);
    // The fixed part begins with 0xFEEF04BD and the version of its own form.
    const at = resource.indexOf(Buffer.from([0xbd, 0x04, 0xef, 0xfe])) + 8;
    assert.deepEqual([2, 0, 6, 4].map((each) => resource.readUInt16LE(at + each)), [major, minor, patch, 0]);
  });

  test('its memory is laid out at random, and what is written there is not executed', () => {
    const wanted = pe.HIGH_ENTROPY_VA | pe.DYNAMIC_BASE | pe.NX_COMPAT;
    assert.equal(program.flags & wanted, wanted);
  });

  test('it is stripped, and its symbols lie beside the packages', () => {
    assert.equal(program.hasSymbols, false);
    assert.equal(new Binary(join(folder, `mcp-sitter-${version}-win32-x64.debug`)).hasSymbols, true);
  });

  test('the package of npm holds nothing but what it is for', () => {
    const files = readdirSync(join(place, 'package'), { recursive: true }).sort();
    const wanted = ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES.txt', 'bin', 'bin/mcp-sitter.exe', 'package.json'];
    assert.deepEqual(files, wanted);
  });

  test('the .zip holds the same program', () => {
    const name = `mcp-sitter-${version}-win32-x64`;
    execFileSync('unzip', ['-q', join(folder, `${name}.zip`), '-d', place]);
    assert.deepEqual(readFileSync(join(place, name, 'bin/mcp-sitter.exe')), readFileSync(file));
  });

  const wine = existsSync('/usr/lib/wine/wine64');
  test('the command of npm starts the program and ends as it ends', { skip: !wine && 'there is no wine' }, () => {
    const umbrella = join(folder, `mcp-sitter-native-${version}.tgz`);
    const home = join(place, 'home');
    // With --force, npm installs a package for another system.
    const words = ['install', '--force', '--offline', '--no-audit', '--no-fund', '--prefix', home, umbrella, npm];
    execFileSync('npm', words, { env: { PATH: process.env.PATH, HOME: place }, stdio: 'pipe' });
    const launched = (...words) => {
      const said = openSync(join(place, 'said'), 'w+');
      const command = ['--import', `data:text/javascript,${encodeURIComponent(playsWindows)}`, launcher(home), ...words];
      // A pipe would be held open by the services that wine starts.
      const { status } = spawnSync(process.execPath, command, { stdio: ['ignore', said, said], timeout: 120_000 });
      closeSync(said);
      return { status, said: readFileSync(join(place, 'said'), 'utf8') };
    };
    assert.deepEqual(launched('--version'), { status: 0, said: `mcp-sitter ${version}\n` });
    const { status, said } = launched('--no-such-option');
    assert.equal(status, 2);
    assert.match(said, /--no-such-option/);
  });

  testPackedNotices(folder);
}

const launcher = (home) => join(home, 'node_modules/mcp-sitter-native/bin/mcp-sitter.mjs');

// Node.js believes that it runs on Windows, and starts programs with wine.
const playsWindows = `
import processes from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
const { spawn } = processes;
processes.spawn = (file, words, options) => spawn('${join(root, 'packaging/wine')}', [file, ...words], options);
syncBuiltinESMExports();
Object.defineProperties(process, { platform: { value: 'win32' }, arch: { value: 'x64' } });
`;

const folder = packagesForWindows();
if (folder) {
  describe('for Windows', () => testPackages(folder));
} else {
  test('for Windows', { skip: 'nothing is built: ./dev build release-windows does it' }, () => {});
}
