// A program that runs is locked on Windows. It is built anew while it serves.
import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fakeMcpPath } from '../real/support/programs.mjs';
import { textOf } from '../real/support/session.mjs';
import { until } from '../real/support/waiting.mjs';
import { inProject, open, projectOf } from './support.mjs';

// bench/windows asks for more.
const rebuilds = Number(process.env.REBUILDS ?? 2);
const build = ['--build', 'copy /y next.exe server.exe'];

/** The bytes of the next version, which differ in their end. */
function writeNext(box, version) {
  const next = inProject(box, 'next.exe');
  copyFileSync(fakeMcpPath(), next);
  appendFileSync(next, version);
  return readFileSync(next);
}

const serverOf = (box) => readFileSync(inProject(box, 'server.exe'));

test('a locked program is rebuilt while calls go on, also after a build that has failed', async (t) => {
  const box = projectOf(t);
  const first = serverOf(box);
  const session = await open(box, ['./server.exe'], build);

  let goesOn = true;
  let count = 0;
  const caller = async () => {
    while (goesOn) {
      const text = `call ${count++}`;
      // A notice may come before the answer.
      assert.ok(textOf(await session.call('echo', { text })).endsWith(text));
    }
  };
  const callers = [caller(), caller()];

  const failed = await session.call('sitter_rebuild');
  assert.match(textOf(failed), /the build failed \(exit 1\)[^]*serves on/);
  assert.deepEqual(serverOf(box), first);
  for (let version = 1; version <= rebuilds; ++version) {
    const next = writeNext(box, `version ${version}`);
    assert.match(textOf(await session.call('sitter_rebuild')), /server restarted \(spawn #/);
    assert.deepEqual(serverOf(box), next);
  }
  goesOn = false;
  await Promise.all(callers);
  assert.ok(count > rebuilds);
  assert.equal((await session.status()).spawnCount, 1 + rebuilds);
  t.diagnostic(`${rebuilds} rebuilds, ${count} calls`);
  await until(
    () => !readdirSync(box.project).some((name) => name.includes('sitter-old')),
    () => `the end of the old files among ${readdirSync(box.project)}`,
  );
});

test('without another name, the program is locked until the server is ended first', async (t) => {
  const box = projectOf(t);
  const next = writeNext(box, 'second');
  const session = await open(box, ['./server.exe'], ['--no-rename-aside', ...build]);
  assert.match(textOf(await session.call('sitter_rebuild')), /the build failed/);
  const killed = await session.call('sitter_rebuild', { mode: 'kill-first' });
  assert.match(textOf(killed), /server restarted \(spawn #2/);
  assert.deepEqual(serverOf(box), next);
});
