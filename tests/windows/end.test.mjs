// Nothing is left of a server, whatever ends it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, projectOf, servers } from './support.mjs';
import { until } from '../real/support/waiting.mjs';

/** A session whose server has a grandchild without a console, which leaves the job if it can. */
async function withGrandchild(t, ...flags) {
  const box = projectOf(t);
  const session = await open(box, ['./server.exe', '--life-limit', '600', ...flags]);
  await session.call('spawn', { session: true, ignore_term: true });
  assert.equal(servers(box).length, 2);
  return { box, session };
}

test('sitter_kill ends a grandchild that has detached itself', async (t) => {
  const { box, session } = await withGrandchild(t);
  // The scope auto would find a grandchild by its file, too.
  await session.call('sitter_kill', { scope: 'child' });
  assert.deepEqual(servers(box), []);
});

test('a bridge that is killed leaves nothing', async (t) => {
  const { box, session } = await withGrandchild(t, '--ignore-eof', '--ignore-term');
  process.kill(session.transport.pid, 'SIGKILL');
  await box.nothingLeft();
});

test('the end of the input leaves nothing, also of a server that ignores it', async (t) => {
  const { box, session } = await withGrandchild(t, '--ignore-eof', '--ignore-term');
  await session.client.close();
  await box.nothingLeft();
});

test('a crash is told by the name of its exception, and nothing is left of it', async (t) => {
  const { box, session } = await withGrandchild(t);
  const crash = await session.call('crash', { signal: 'SEGV' });
  assert.equal(crash.isError, true);
  assert.match(JSON.stringify(crash), /crashed \(exit 0xC0000005, access violation\)/);
  await until(
    () => servers(box).length === 0,
    () => 'the end of the grandchild',
  );
});
