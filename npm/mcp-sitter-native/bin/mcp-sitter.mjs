#!/usr/bin/env node
// Runs the program for this platform, which is in a package of its own. The programs for Linux are static, so they also
// serve systems with musl.
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

const require = createRequire(import.meta.url);
const { name: ownName, version, optionalDependencies: programs } = require('../package.json');
const variable = 'MCP_SITTER_BINARY';
const again = `again, as with npm install -g ${ownName}@${version}`;

function fail(sentence) {
  process.stderr.write(`mcp-sitter: ${sentence}\n`);
  process.exit(1);
}

/** Whether the file begins like a program (ELF, Mach-O, or a script). If not, `execve` would end Node.js with a stack trace. */
function beginsLikeProgram(path) {
  const file = openSync(path, 'r');
  const begin = Buffer.alloc(4);
  readSync(file, begin);
  closeSync(file);
  return ['7f454c46', 'cffaedfe', 'cafebabe'].includes(begin.toString('hex')) || begin.toString().startsWith('#!');
}

function wrongWith(path) {
  try {
    if (!statSync(path).isFile()) return 'is no file';
    accessSync(path, constants.X_OK);
    return beginsLikeProgram(path) ? undefined : 'is no program';
  } catch (error) {
    return error.code === 'ENOENT' ? 'does not exist' : 'cannot be executed';
  }
}

function namedProgram() {
  const path = resolve(process.env[variable]);
  const wrong = wrongWith(path);
  if (wrong) fail(`${variable} names ${path}, which ${wrong}; let it name a built mcp-sitter, or unset it.`);
  return path;
}

/** Whether Rosetta translates this Node.js, which then takes an Apple processor for one of Intel. */
function isTranslated() {
  if (process.platform !== 'darwin' || process.arch !== 'x64') return false;
  try {
    const words = ['-n', 'sysctl.proc_translated'];
    return execFileSync('sysctl', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() === '1';
  } catch {
    // The name is unknown to systems without Rosetta.
    return false;
  }
}

/** The manifest of an installed package. A package manager may have left the package out. */
function manifestOf(name) {
  try {
    return require(`${name}/package.json`);
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    fail(`the package ${name} cannot be read: ${error.message}; install ${ownName} ${again}.`);
  }
}

function reasonForNone(names, translated) {
  const other = Object.keys(programs).find((name) => !names.includes(name) && manifestOf(name));
  if (other) {
    return `${other} is installed, which is for another system, so node_modules was copied from there`;
  }
  if (translated) {
    return `neither ${names.join(' nor ')} is installed, and Rosetta runs this Node.js for Intel processors`;
  }
  return `the package ${names[0]} is missing, as after an installation without optional dependencies (--omit=optional)`;
}

function installedProgram() {
  const translated = isTranslated();
  const system = `${process.platform}-${process.arch}`;
  const names = [...(translated ? ['darwin-arm64'] : []), system]
    .map((platform) => `@mcp-sitter/${platform}`)
    .filter((name) => programs[name]);
  if (!names.length) {
    const known = Object.keys(programs).map((name) => name.split('/')[1]);
    fail(`there is no program for ${system} yet, only for ${known.join(', ')}.`);
  }
  const name = names.find(manifestOf);
  if (!name) fail(`${reasonForNone(names, translated)}; install it on this system ${again}.`);
  const found = manifestOf(name).version;
  if (found !== version) {
    fail(`${name} is of version ${found} and ${ownName} of version ${version}; install both ${again}.`);
  }
  const path = join(dirname(require.resolve(`${name}/package.json`)), 'bin/mcp-sitter');
  const wrong = wrongWith(path);
  if (wrong) fail(`the program ${path} ${wrong}; install ${ownName} ${again}.`);
  return path;
}

// This process stays between the client and the program, and neither of them should notice it.
function run(program, words) {
  // Install the handlers first: without a handler, a signal would end this process and leave the program running.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1']) {
    process.on(signal, () => child.kill(signal));
  }
  const child = spawn(program, words, { stdio: 'inherit', windowsHide: true });
  child.on('error', (error) => fail(`its program cannot be run: ${error.message}.`));
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exit(code);
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

const program = process.env[variable] ? namedProgram() : installedProgram();
const words = process.argv.slice(2);
if (process.execve && process.platform !== 'win32') {
  process.execve(program, [program, ...words], process.env);
} else {
  run(program, words);
}
