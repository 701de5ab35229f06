// A single call leads from an edit to running code: a server on the official SDK is edited, built
// and swapped while the official client goes on with its requests.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sitting, workshop } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Session, textOf } from './support/session.mjs';

const echo = { name: 'echo' };
const find = { name: 'find', does: { answer: 'found' } };
const planOf = (...tools) => JSON.stringify({ tools });

/** The build takes over the source `next.json` if it is valid. */
const build = `node -e 'JSON.parse(require("fs").readFileSync("next.json"))' && cp next.json plan.json`;

/** The bridge, with that build command, in front of a workshop. */
function sittingWithBuild(box, ...options) {
  box.write('next.json', planOf(echo));
  const plan = box.write('plan.json', planOf(echo));
  return sitting(workshop(plan), '--build', build, '--build-cwd', box.dir, ...options);
}

test('edits, builds and swaps while requests go on: none is lost, none is done twice', async (t) => {
  const box = new Sandbox(t);
  const session = await Session.open(box, sittingWithBuild(box));
  await session.toolNames();

  let goesOn = true;
  let count = 0;
  const caller = async (name) => {
    while (goesOn) {
      const n = count++;
      const text = textOf(await session.call('echo', { name, n }));
      // A notice may come before the answer.
      assert.ok(text.endsWith(JSON.stringify({ name, n })), text);
    }
  };
  const callers = ['a', 'b', 'c'].map(caller);

  const rebuilt = [];
  for (const next of [planOf(echo, find), '{ broken', planOf(echo), planOf(echo, find)]) {
    box.write('next.json', next);
    rebuilt.push(await session.call('sitter_rebuild'));
  }
  goesOn = false;
  await Promise.all(callers);

  assert.deepEqual(
    rebuilt.map(({ isError }) => isError ?? false),
    [false, true, false, false],
  );
  assert.match(textOf(rebuilt[0]), /server restarted \(spawn #2, .*\+1 added \(find\)/);
  assert.match(textOf(rebuilt[1]), /the build failed \(exit 1\).*serves on/);
  assert.match(textOf(rebuilt[1]), /SyntaxError/);
  assert.match(textOf(rebuilt[2]), /-1 removed \(find\)/);
  assert.equal(textOf(await session.call('find')), 'found');
  assert.equal((await session.status()).spawnCount, 4);
  const done = readFileSync(box.path('plan.json.calls'), 'utf8').trim().split('\n');
  assert.equal(done.filter((name) => name === 'echo').length, count);
});

test('a hangup signal does the same from outside', async (t) => {
  const box = new Sandbox(t);
  const session = await Session.open(box, sittingWithBuild(box));
  await session.toolNames();

  box.write('next.json', planOf(echo, find));
  process.kill(session.transport.pid, 'SIGHUP');
  await session.notified('notifications/tools/list_changed');
  assert.match(textOf(await session.call('find')), /spawn #2, .*\+1 added \(find\)[^]*found$/);
});

test('a save does the same, also one that cannot be built', async (t) => {
  const box = new Sandbox(t);
  const source = box.path('next.json');
  const session = await Session.open(box, sittingWithBuild(box, '--watch', source));
  await session.toolNames();

  let goesOn = true;
  const texts = [];
  const caller = async () => {
    while (goesOn) texts.push(textOf(await session.call('echo')));
  };
  const callers = [caller(), caller()];
  const told = async (words) => {
    while (!texts.some((text) => words.test(text))) texts.push(textOf(await session.call('echo')));
  };

  box.write('next.json', '{ broken');
  await told(/the build failed \(exit 1\).*serves on/);
  box.write('next.json', planOf(echo, find));
  await session.notified('notifications/tools/list_changed');
  await told(/\+1 added \(find\)/);
  goesOn = false;
  await Promise.all(callers);
  assert.equal(textOf(await session.call('find')), 'found');
  // Only one result tells the failure as a whole, and each answer of the old code names it.
  assert.equal(texts.filter((text) => /serves on/.test(text)).length, 1);
  const { watch } = await session.status();
  assert.deepEqual(watch.lastTrigger.files, [source]);
});
