#!/usr/bin/env node
// Runs the program for this platform, which is in a separate package.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';

const programs = {
  'linux x64': 'mcp-sitter-native-linux-x64/bin/mcp-sitter',
};

function fail(sentence) {
  process.stderr.write(`mcp-sitter: ${sentence}\n`);
  process.exit(1);
}

function findProgram() {
  const platform = `${process.platform} ${process.arch}`;
  const program = programs[platform];
  if (!program) {
    fail(`there is no program for ${platform} yet, only for ${Object.keys(programs).join(', ')}.`);
  }
  try {
    const path = createRequire(import.meta.url).resolve(program);
    accessSync(path, constants.X_OK);
    return path;
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') {
      fail(`its program cannot be run: ${error.message}.`);
    }
    const [name] = program.split('/');
    fail(`the package ${name} is missing; install again without omitting optional dependencies.`);
  }
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

const program = findProgram();
const words = process.argv.slice(2);
if (process.execve && process.platform !== 'win32') {
  process.execve(program, [program, ...words], process.env);
} else {
  run(program, words);
}
