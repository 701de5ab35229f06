// How a command becomes a process: names without an ending, and batch files.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { inProject, open, projectOf } from './support.mjs';
import { textOf } from '../real/support/session.mjs';

/** Writes a batch file that passes its arguments on to the server. */
function writeBatchFile(box, name) {
  writeFileSync(inProject(box, name), '@"%~dp0server.exe" %*\r\n');
  return box;
}

test('npx is found as npx.cmd, in a folder of PATH', async (t) => {
  const box = writeBatchFile(projectOf(t), 'npx.cmd');
  writeFileSync(inProject(box, 'npx'), '#!/bin/sh\nexit 1\n');
  writeFileSync(inProject(box, 'npx.ps1'), 'exit 1\r\n');
  mkdirSync(box.path('elsewhere'));
  const session = await open(box, ['npx', '--name', 'found'], ['--cwd', box.path('elsewhere')], {
    // wine puts these folders in front of PATH.
    env: { WINEPATH: `Z:${box.project.replaceAll('/', '\\')}` },
  });
  assert.equal(session.client.getServerVersion().name, 'found');
});

// wine's cmd.exe replaces no variable in the command line itself, so a percent sign proves nothing.
const hostile = [
  ...['two words', 'a&echo b', 'a|b', '<in', '>out', '^', 'a^b', '(a)', '!a!', "it's"],
  ...['say "no"', '" & echo b & "', '{"a": "b & c"}', '"', '\\"', 'ends\\', 'two ends\\'],
  ...['', ' ', 'ä€😀'],
];

test('the arguments of a batch file arrive as they were given', async (t) => {
  const box = writeBatchFile(projectOf(t), 'server.cmd');
  const flags = hostile.flatMap((text) => ['--name', text]);
  const session = await open(box, ['./server.cmd', ...flags]);
  assert.deepEqual(JSON.parse(textOf(await session.call('args'))).slice(1), flags);
});

test('an argument of a batch file that cannot be passed is refused', async (t) => {
  const box = writeBatchFile(projectOf(t), 'server.cmd');
  const session = await open(box, ['./server.cmd', '--name', 'a\necho b']);
  assert.match(session.client.getInstructions(), /line end/);
});
