// Packs programs that are built already: node npm/pack.mjs [--all] [--out FOLDER] [PLATFORM=BINARY...]. Without a
// binary, it takes the release build for this machine. Packages, archives for people without Node.js, and SHA256SUMS go
// to build/package or to another folder; what an earlier run has left there is removed. With --all, a platform without a
// binary is an error.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { projectVersion, root } from '../packaging/version.mjs';
import { tarOf, zipOf } from './archive.mjs';
import { Binary } from './binary.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const platforms = JSON.parse(readFileSync(join(here, 'platforms.json')));
const version = projectVersion();
const { options, positionals } = commandLine();
const out = resolve(options.out);
const ownBuild = join(root, 'build/release/bin/mcp-sitter');
const host = `${process.platform}-${process.arch}`;
const notices = 'THIRD-PARTY-NOTICES.txt';

// What the program writes itself, at the places where a system looks for it.
const pages = {
  'share/man/man1/mcp-sitter.1': ['help', '--man'],
  'share/bash-completion/completions/mcp-sitter': ['completion', 'bash'],
  'share/zsh/site-functions/_mcp-sitter': ['completion', 'zsh'],
  'share/fish/vendor_completions.d/mcp-sitter.fish': ['completion', 'fish'],
};

function commandLine() {
  const known = { all: { type: 'boolean' }, out: { type: 'string', default: join(root, 'build/package') } };
  try {
    const { values, positionals } = parseArgs({ options: known, allowPositionals: true });
    return { options: values, positionals };
  } catch (error) {
    console.error(`pack: ${error.message.split('. ')[0]}; the words are [--all] [--out FOLDER] [PLATFORM=BINARY...]`);
    process.exit(2);
  }
}

class Refusal extends Error {}

function refuse(sentence) {
  throw new Refusal(sentence);
}

const isWindows = (platform) => platforms[platform].os === 'win32';
const programName = (platform) => (isWindows(platform) ? 'mcp-sitter.exe' : 'mcp-sitter');

function put(path, bytes, mode) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes, { mode });
}

function givenBinaries(words) {
  const given = {};
  for (const word of words) {
    const [, platform, path] = word.match(/^([^=]+)=(.+)$/) ?? refuse(`'${word}' is not PLATFORM=BINARY`);
    const names = Object.keys(platforms);
    if (!names.includes(platform)) refuse(`there is no platform '${platform}', only ${names.join(', ')}`);
    if (given[platform]) refuse(`two binaries were given for ${platform}: leave out one of them`);
    given[platform] = resolve(path);
  }
  return given;
}

/** What the program for this machine writes when it runs with these words. */
function saidBy(program, words) {
  try {
    return execFileSync(program, words, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  } catch (error) {
    return refuse(`${program} does not run here: ${error.message.split('\n')[0]}; build it again`);
  }
}

function checked(platform, path) {
  const { os, cpu, system } = platforms[platform];
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) refuse(`there is no file ${path}: build it first`);
  const binary = new Binary(path);
  if (binary.os !== os || binary.cpu !== cpu) refuse(`${path} is not a program for ${system}`);
  if (binary.isStatic === false) refuse(`${path} is not static, so it would need the libraries of this system`);
  if (platform === host) {
    const said = saidBy(path, ['--version']).trim();
    if (said !== `mcp-sitter ${version}`) {
      refuse(`${path} is ${said}, but version ${version} is to be packed: build it again`);
    }
  } else if (!binary.holds(version)) {
    refuse(`${path} is not of version ${version}, which is to be packed: build it again`);
  }
  return binary;
}

/** Puts the program there without its symbols. They stay in a file of their own, which has the same build id. */
function putProgram(platform, path, { hasSymbols }, target) {
  mkdirSync(dirname(target), { recursive: true });
  if (hasSymbols) {
    const triples = { 'linux-x64': 'x86_64-linux-gnu', 'linux-arm64': 'aarch64-linux-gnu', 'win32-x64': 'x86_64-w64-mingw32' };
    const objcopy = platform === host ? 'objcopy' : `${triples[platform]}-objcopy`;
    try {
      execFileSync(objcopy, ['--only-keep-debug', path, join(out, `mcp-sitter-${version}-${platform}.debug`)]);
      // A program for Windows has the date of its link, which would become that of now.
      execFileSync(objcopy, ['--strip-all', '--preserve-dates', path, target]);
    } catch (error) {
      refuse(`${objcopy} cannot take the symbols out of ${path}: ${error.message}; install binutils for ${platform}`);
    }
  } else {
    put(target, readFileSync(path), 0o755);
  }
}

/** The licences of the libraries in a program. The folder that built it knows them; elsewhere they lie beside it. */
function noticesFor(path) {
  const build = dirname(dirname(path));
  const file = join(dirname(path), notices);
  if (existsSync(join(build, 'build.ninja'))) {
    execFileSync(process.execPath, [join(root, 'packaging/notices.mjs'), build], { stdio: 'inherit' });
  } else if (!statSync(file, { throwIfNoEntry: false })?.isFile() || statSync(file).size === 0) {
    refuse(`${file} is missing: copy it from where the program was built (node packaging/notices.mjs makes it)`);
  }
  return readFileSync(file);
}

/** Packs a folder with npm. `change` makes its manifest out of the one in the source. */
function packWithNpm(folder, change) {
  const path = join(folder, 'package.json');
  const manifest = change({ ...JSON.parse(readFileSync(path)), version });
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const words = ['pack', '--pack-destination', out, '--loglevel=error', '--ignore-scripts'];
  execFileSync('npm', words, { cwd: folder, stdio: 'inherit' });
}

function packPlatform(platform, program, legal) {
  const { os, cpu, system } = platforms[platform];
  const folder = join(out, 'npm', platform);
  const file = `bin/${programName(platform)}`;
  const words = { PLATFORM: platform, SYSTEM: system, PROGRAM: file };
  const filled = (text) => text.replaceAll(/PLATFORM|SYSTEM|PROGRAM/g, (word) => words[word]);
  for (const name of ['package.json', 'README.md']) {
    put(join(folder, name), filled(readFileSync(join(here, 'platform', name), 'utf8')));
  }
  put(join(folder, file), readFileSync(program), 0o755);
  put(join(folder, notices), legal);
  packWithNpm(folder, (manifest) => ({ ...manifest, os: [os], cpu: [cpu] }));
}

function packUmbrella(given, share) {
  const folder = join(out, 'npm/mcp-sitter-native');
  cpSync(join(here, 'mcp-sitter-native'), folder, { recursive: true });
  cpSync(join(root, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'docs/demo.svg'), join(folder, 'docs/demo.svg'));
  for (const [name, text] of share) put(join(folder, name), text);
  const programs = Object.keys(given).map((platform) => [`@mcp-sitter/${platform}`, version]);
  packWithNpm(folder, (manifest) => ({ ...manifest, optionalDependencies: Object.fromEntries(programs) }));
}

function packArchive(platform, program, legal, share) {
  const name = `mcp-sitter-${version}-${platform}`;
  const stage = join(out, 'stage');
  const folder = join(stage, name);
  put(join(folder, 'bin', programName(platform)), readFileSync(program), 0o755);
  put(join(folder, notices), legal);
  for (const file of ['LICENSE', 'README.md']) cpSync(join(root, file), join(folder, file));
  if (isWindows(platform)) {
    writeFileSync(join(out, `${name}.zip`), zipOf(stage, name));
  } else {
    for (const [file, text] of share) put(join(folder, file), text);
    writeFileSync(join(out, `${name}.tar.gz`), tarOf(stage, name));
  }
}

function writeSums() {
  const names = readdirSync(out).filter((name) => /\.(tgz|tar\.gz|zip)$/.test(name)).sort();
  const sum = (name) => createHash('sha256').update(readFileSync(join(out, name))).digest('hex');
  writeFileSync(join(out, 'SHA256SUMS'), names.map((name) => `${sum(name)}  ${name}\n`).join(''));
}

/** The program for this machine, which writes the manual page and the completions of all packages. */
function writerOfPages(given) {
  if (given[host]) return given[host];
  if (!existsSync(ownBuild)) {
    refuse(`the program for ${host} writes the manual page: give ${host}=BINARY too, or run ./dev build release`);
  }
  checked(host, ownBuild);
  return ownBuild;
}

/** Makes the folder, or empties it if it holds only what an earlier run has written. */
function clearOut(inputs) {
  if (existsSync(out)) {
    if (options.out === '' || !statSync(out).isDirectory()) refuse(`--out '${options.out}' names no folder`);
    const real = realpathSync(out);
    const inside = inputs.find(({ path }) => realpathSync(path).startsWith(`${real}/`));
    if (inside) refuse(`${inside.path} lies in ${out}, which is emptied first: move the program, or name another --out`);
    const written = /^(npm|programs|stage|mcp-sitter[-.].*|SHA256SUMS|PKGBUILD|install\.sh)$/;
    const foreign = readdirSync(out).find((name) => !written.test(name));
    if (foreign) refuse(`${out} holds ${foreign}, which no packing has written: name another --out, or move that away`);
    rmSync(out, { recursive: true });
  }
  mkdirSync(out, { recursive: true });
}

function pack() {
  // npm packs files with the modes that they have.
  process.umask(0o022);
  const given = givenBinaries(positionals.length ? positionals : [`${host}=${ownBuild}`]);
  const missing = Object.keys(platforms).filter((platform) => !given[platform]);
  const notPacked = `not packed: ${missing.join(', ')} (no binary was given)`;
  if (options.all && missing.length) refuse(notPacked);
  const writer = writerOfPages(given);
  const inputs = Object.entries(given).map(([platform, path]) => {
    return { platform, path, binary: checked(platform, path), legal: noticesFor(path) };
  });

  const share = Object.entries(pages).map(([name, page]) => [name, saidBy(writer, page)]);
  clearOut(inputs);
  const programs = inputs.map(({ platform, path, binary, legal }) => {
    const program = join(out, 'programs', platform, programName(platform));
    putProgram(platform, path, binary, program);
    return { platform, program, legal };
  });
  for (const { platform, program, legal } of programs) {
    packPlatform(platform, program, legal);
    packArchive(platform, program, legal, share);
  }
  packUmbrella(given, share);
  writeSums();
  if (missing.length) console.log(notPacked);
}

try {
  pack();
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(`pack: ${error.message}`);
  process.exitCode = 1;
}
