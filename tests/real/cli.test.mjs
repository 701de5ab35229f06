// A command-line tool as the server, in front of the official clients.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Sandbox } from './support/sandbox.mjs';
import { Session, textOf } from './support/session.mjs';
import { SessionInPlace } from './support/session_v2.mjs';
import { toolWith } from './support/tool.mjs';

const clients = {
  'the first official client': { Class: Session },
  'the second official client': { Class: SessionInPlace },
  'the second official client, stateless': {
    Class: SessionInPlace,
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  },
};

for (const [name, { Class, ...options }] of Object.entries(clients)) {
  describe(`a tool with ${name}`, () => {
    const open = async (t, ...names) => {
      const box = new Sandbox(t);
      const session = await Class.open(box, toolWith(box, ...names), options);
      // The client checks results against the schemas that it has listed.
      const { tools } = await session.client.listTools();
      return { box, session, names: tools.map((tool) => tool.name) };
    };

    test('runs its commands', async (t) => {
      const { session, names } = await open(t, 'say', 'count', 'lie', 'fail');
      assert.deepEqual(names.slice(0, 4), ['say', 'count', 'lie', 'fail']);
      const said = await session.call('say', { text: '-x\n$(id) ž' });
      assert.equal(textOf(said), '-x\n$(id) ž');
      assert.deepEqual((await session.call('count', { text: 'four' })).structuredContent, { n: 4 });
      const lie = await session.call('lie');
      assert.equal(lie.isError, true);
      assert.match(textOf(lie), /`n`/);
      const failed = await session.call('fail');
      assert.equal(failed.isError, true);
      assert.match(textOf(failed), /exit 3.*\nthe disk is full/);
      const wrong = await session.call('say', { text: 3 });
      assert.match(textOf(wrong), /`text`/);
    });

    test('describes another command, and the client is told', async (t) => {
      const { box, session } = await open(t, 'say');
      if (options.versionNegotiation) await session.client.listen({ toolsListChanged: true });
      toolWith(box, 'say', 'added');
      await session.notified('notifications/tools/list_changed');
      await session.client.listTools();
      assert.match(textOf(await session.call('added')), /\+1 added \(added\)[^]*just written\n$/);
      assert.equal(textOf(await session.call('added')), 'just written\n');
    });
  });
}
