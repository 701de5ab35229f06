#!/usr/bin/env node
// Runs the program for this platform, which is in a package of its own. The programs for Linux are static, so they also
// serve systems with musl.
import { execFileSync, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { name: ownName, version, optionalDependencies: programs } = require('../package.json');
const variable = 'MCP_SITTER_BINARY';
const launcher = realpathSync(fileURLToPath(import.meta.url));
const manager = packageManager();
const isWindows = process.platform === 'win32';
const again = `again, as with ${manager.installs}`;

/**
 * The package manager that installed this command: how it installs the command again, its option that leaves out
 * optional dependencies, and its setting that installs for several systems.
 */
function packageManager() {
  const wanted = `${ownName}@${version}`;
  const { deno, bun, pnp } = process.versions;
  if (deno) return { installs: `deno install -g -A -f npm:${wanted}` };
  if (pnp) return { installs: 'yarn install', shares: 'supportedArchitectures of .yarnrc.yml' };
  if (bun || /[\\/]\.bun[\\/]/.test(launcher)) return { installs: `bun add -g ${wanted}`, omits: '--omit=optional' };
  // pnpm has its packages in node_modules/.pnpm, or in the links of a store for all projects.
  if (/[\\/](\.pnpm|store[\\/]v\d+[\\/]links)[\\/]/.test(launcher)) {
    const shares = 'supportedArchitectures of pnpm-workspace.yaml';
    return { installs: `pnpm add -g ${wanted}`, omits: '--no-optional', shares };
  }
  return { installs: `npm install -g ${wanted}`, omits: '--omit=optional' };
}

function fail(sentence) {
  process.stderr.write(`mcp-sitter: ${sentence}\n`);
  process.exit(1);
}

function wrongWithFile(path) {
  try {
    if (!statSync(path).isFile()) return 'is not a file';
    accessSync(path, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return error.code === 'ENOENT' ? 'does not exist' : 'cannot be executed';
  }
}

/** As much of a file as Linux reads to find out how to run it. */
function beginOf(path) {
  const begin = Buffer.alloc(256);
  const file = openSync(path, 'r');
  const size = readSync(file, begin);
  closeSync(file);
  return begin.subarray(0, size);
}

function wrongWithElf(begin, path) {
  if (begin.length < 64) return 'is cut off';
  const machine = { x64: 62, arm64: 183 }[process.arch];
  const is64Bit = begin[4] === 2;
  if (machine && !(is64Bit && begin.readUInt16LE(18) === machine)) return 'is for another processor';
  // The table of sections ends the file.
  const end = Number(begin.readBigUInt64LE(40)) + begin.readUInt16LE(58) * begin.readUInt16LE(60);
  return is64Bit && end > statSync(path).size ? 'is cut off' : undefined;
}

function wrongWithMachO(begin) {
  if (begin.length < 32) return 'is cut off';
  // Rosetta runs programs for Intel on an Apple processor; nothing runs those for Apple on a processor of Intel.
  const isForApple = begin.readUInt32LE(4) === 0x0100000c;
  return isForApple && process.arch === 'x64' && !isTranslated() ? 'is for another processor' : undefined;
}

function wrongWithScript(begin) {
  const [, interpreter] = begin.toString().match(/^#![ \t]*([^ \t\n]*)/);
  if (!interpreter) return 'is not a program';
  const wrong = wrongWithFile(interpreter);
  return wrong && `needs an interpreter that ${wrong}`;
}

/**
 * What keeps the system from starting a file. For such a file, `execve` may end Node.js with a stack trace, and `spawn`
 * may give it to a shell.
 */
function wrongWith(path) {
  const wrong = wrongWithFile(path);
  if (wrong) return wrong;
  const begin = beginOf(path);
  // Windows itself says what is wrong with one of its programs, and starts no script.
  if (begin.toString('latin1', 0, 2) === 'MZ') return isWindows ? undefined : 'is for another system';
  if (begin.toString('latin1', 0, 2) === '#!' && !isWindows) return wrongWithScript(begin);
  const isMac = process.platform === 'darwin';
  switch (begin.toString('hex', 0, 4)) {
    case '7f454c46':
      return isMac || isWindows ? 'is for another system' : wrongWithElf(begin, path);
    case 'cffaedfe':
      return isMac ? wrongWithMachO(begin) : 'is for another system';
    case 'cafebabe':
      // A file of Apple with programs for several processors.
      return isMac ? undefined : 'is for another system';
    default:
      return 'is not a program';
  }
}

function namedProgram() {
  const path = resolve(process.env[variable]);
  // A command in between may start this one again, which then takes the installed program.
  delete process.env[variable];
  const wrong = wrongWith(path) ?? (realpathSync(path) === launcher ? 'is this command itself' : undefined);
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

function failForNone(names, translated) {
  const install = `install it on this system ${again}`;
  const other = Object.keys(programs).find((name) => !names.includes(name) && manifestOf(name));
  if (other) {
    const both = manager.shares ? `, or name both systems in ${manager.shares}` : '';
    const copied = 'so this installation was copied from there';
    fail(`${other} is installed, which is for another system, ${copied}; ${install}${both}.`);
  }
  if (translated) {
    fail(`neither ${names.join(' nor ')} is installed, and Rosetta runs this Node.js for Intel processors; ${install}.`);
  }
  const option = manager.omits ? ` (${manager.omits})` : '';
  fail(`the package ${names[0]} is missing, as after an installation without optional dependencies${option}; ${install}.`);
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
  if (!name) failForNone(names, translated);
  const found = manifestOf(name).version;
  if (found !== version) {
    fail(`${name} is of version ${found} and ${ownName} of version ${version}; install both ${again}.`);
  }
  const file = isWindows ? 'bin/mcp-sitter.exe' : 'bin/mcp-sitter';
  const path = join(dirname(require.resolve(`${name}/package.json`)), file);
  const wrong = wrongWith(path);
  if (wrong) fail(`the program ${path} ${wrong}; install ${ownName} ${again}.`);
  return path;
}

// This process stays between the client and the program, and neither of them should notice it.
function run(program, words) {
  // Install the handlers first: without a handler, a signal would end this process and leave the program running. The
  // console of Windows tells both processes of Ctrl-C, Ctrl-Break and its end, and `kill` would terminate the program.
  const signals = isWindows
    ? ['SIGHUP', 'SIGINT', 'SIGBREAK']
    : ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'];
  for (const signal of signals) {
    process.on(signal, () => isWindows || child.kill(signal));
  }
  const child = spawn(program, words, { stdio: 'inherit', windowsHide: true });
  child.on('error', failToRun);
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exit(code);
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Node.js ignores SIGPIPE and SIGXFSZ.
    process.exit(128 + os.constants.signals[signal]);
  });
}

function failToRun(error) {
  fail(`its program cannot be run: ${error.message}.`);
}

const program = process.env[variable] ? namedProgram() : installedProgram();
const words = process.argv.slice(2);
try {
  if (process.execve && !isWindows) {
    process.execve(program, [program, ...words], process.env);
  } else {
    run(program, words);
  }
} catch (error) {
  failToRun(error);
}
