// The second official client in front of the bridge, with every way in which it finds out the era.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ownFakeMcp, sitting, workshop, workshopV2 } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { textOf } from './support/session.mjs';
import { SessionInPlace, SessionV2 } from './support/session_v2.mjs';
import { Mailbox } from './support/waiting.mjs';

const sitterTools = ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'];
const listChanged = 'notifications/tools/list_changed';
const acknowledged = 'notifications/subscriptions/acknowledged';
const revision = '2026-07-28';
const restarted = /^\[mcp-sitter\] server restarted \(spawn #2, pid \d+, /;

const modes = {
  legacy: undefined,
  auto: { mode: 'auto' },
  [`pinned to ${revision}`]: { mode: { pin: revision } },
};

// What the tools of a workshop do. fake-mcp has tools of the same names.
const does = { say: {}, hang: { waits: true }, crash: { exit: 3, stderr: ['last words'] } };
const common = Object.keys(does);

/** A server whose tools come from a file. `build` writes the file, and a new file is a rebuild. */
const workshopOf = (command) => (box) => ({
  build(names) {
    const tools = names.map((name) => ({ name, does: does[name] }));
    box.write('tools.json', JSON.stringify({ tools }));
  },
  command: command(box.path('tools.json')),
});
const fake =
  (...flags) =>
  (box) => ({
    build(names) {
      const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
      box.write('tools.json', JSON.stringify(tools));
    },
    command: [ownFakeMcp(box), ...flags, '--tools', box.path('tools.json')],
  });

const servers = {
  'a server on the second official SDK': { of: workshopOf(workshopV2), eras: ['legacy', 'modern'] },
  'a server on the first official SDK': { of: workshopOf(workshop), eras: ['legacy'] },
  'fake-mcp --era dual': { of: fake('--era', 'dual'), eras: ['legacy', 'modern'] },
  'fake-mcp --era modern': { of: fake('--era', 'modern'), eras: ['modern'] },
  'fake-mcp --era legacy': { of: fake('--era', 'legacy'), eras: ['legacy'] },
};

/** The era that a client in this mode speaks with such a server, if any. */
function eraOf(mode, eras) {
  if (mode === 'legacy') return eras.includes('legacy') ? 'legacy' : undefined;
  if (eras.includes('modern')) return 'modern';
  return mode === 'auto' ? 'legacy' : undefined;
}

/** A session through the bridge with the server, whose tools are `common`. */
async function open(t, of, versionNegotiation, options, Class = SessionV2) {
  const box = new Sandbox(t);
  const { build, command } = of(box);
  build(common);
  const session = await Class.open(box, sitting(command), { versionNegotiation, ...options });
  return Object.assign(session, { box, build });
}

/** Options of a client that lists the tools again when told to, and a record of these lists. */
function relisting() {
  const lists = new Mailbox();
  const onChanged = (error, tools) => lists.push(error ?? tools.map(({ name }) => name));
  return { lists, options: { listChanged: { tools: { onChanged } } } };
}

for (const [serverName, { of, eras }] of Object.entries(servers)) {
  for (const [mode, negotiation] of Object.entries(modes)) {
    const era = eraOf(mode, eras);
    if (!era) continue;
    test(`${serverName}, the client ${mode}: a session`, async (t) => {
      const { lists, options } = relisting();
      const session = await open(t, of, negotiation, options);

      /** The next call of a tool works, and is the first to say that the server was restarted. */
      const saysRestarted = async (spawn, previous) => {
        const next = await session.call('say', { n: 1 });
        const [notice, answer] = next.content.map(({ text }) => text);
        assert.match(notice, new RegExp(`^\\[mcp-sitter\\] server restarted \\(spawn #${spawn}, pid \\d+, `));
        assert.match(notice, previous);
        assert.equal(answer, '{"n":1}');
        const third = await session.call('say', { n: 1 });
        assert.deepEqual(third.content, [{ type: 'text', text: '{"n":1}' }]);
        return notice;
      };

      await t.test('tools of the server and the built-in ones are listed and called', async () => {
        assert.equal(session.client.getProtocolEra(), era);
        assert.match(session.client.getInstructions(), /sitter_/);
        assert.deepEqual(await session.toolNames(), [...common, ...sitterTools]);
        assert.equal(textOf(await session.call('say', { n: 1 })), '{"n":1}');
        const status = await session.status();
        assert.equal(status.protocolEra, era);
        assert.equal(status.protocolVersion, session.client.getNegotiatedProtocolVersion());
        assert.equal(status.spawnCount, 1);
        const info = JSON.parse(textOf(await session.call('sitter_binary_info')));
        assert.equal(info.exists, true);
        assert.equal(typeof textOf(await session.call('sitter_child_stderr')), 'string');
        assert.equal((await session.call('sitter_kill', { no: 1 })).isError, true);
      });

      await t.test('kill -9 in mid-call: the call is answered with the reason', async () => {
        const call = session.call('hang');
        const { childPid, requestsInFlight } = await session.status();
        assert.equal(requestsInFlight, 1);
        process.kill(childPid, 'SIGKILL');
        const result = await call;
        assert.equal(result.isError, true);
        assert.match(textOf(result), /SIGKILL/);
        assert.match(textOf(result), /may or may not have taken effect/);
        await saysRestarted(2, /previous: ⚠ crashed \(SIGKILL, /);
      });

      await t.test('after sitter_kill the first call, and no other, says so', async () => {
        const killed = JSON.parse(textOf(await session.call('sitter_kill')));
        assert.equal(killed.count, 1);
        assert.equal((await session.status()).childPid, null);
        const notice = await saysRestarted(3, /previous: killed by sitter_kill after /);
        assert.doesNotMatch(notice, /crash|tools:/);
      });

      await t.test('a crash is told, and the next call works', async () => {
        const crashed = await session.call('crash', { code: 3, stderr: 'last words' });
        assert.equal(crashed.isError, true);
        assert.match(textOf(crashed), /exit(ed)?( with)?( code)? 3/);
        assert.match(textOf(crashed), /last words/);
        await saysRestarted(4, /previous: ⚠ crashed \(exit 3\)/);
      });

      await t.test('a rebuild with other tools reaches the client', async () => {
        await session.call('sitter_kill');
        session.build([...common, 'added']);
        await saysRestarted(5, /tools: \+1 added \(added\)\./);
        const withAdded = [...common, 'added', ...sitterTools];
        assert.deepEqual(await lists.find(Array.isArray, 'the new list'), withAdded);
        assert.deepEqual(await session.toolNames(), withAdded);
        assert.equal(textOf(await session.call('added', { n: 2 })), '{"n":2}');
        assert.equal(session.notifications.items.filter((m) => m.method === listChanged).length, 1);
      });
    });
  }
}

for (const [mode, negotiation] of Object.entries(modes)) {
  describe(`the client ${mode}`, () => {
    const { of } = servers['a server on the second official SDK'];

    test('a list is never cached: a client without a handler sees the new one too', async (t) => {
      const session = await open(t, fake('--era', 'dual', '--ttl', '3600000'), negotiation);
      assert.deepEqual(await session.toolNames(), [...common, ...sitterTools]);

      await session.call('sitter_kill');
      session.build([...common, 'added']);
      await session.call('say');
      assert.deepEqual(await session.toolNames(), [...common, 'added', ...sitterTools]);
    });

    test('a cancellation: the server hears of it and the session goes on', async (t) => {
      const session = await open(t, of, negotiation);
      const cancel = new AbortController();

      const call = session.call('hang', {}, { signal: cancel.signal });
      call.catch(() => {});
      await session.stderr.find((line) => line === 'hang waits', 'the call');
      cancel.abort('no longer needed');
      await assert.rejects(call, /no longer needed/);
      await session.stderr.find((line) => line === 'hang was cancelled', 'the cancellation');
      assert.equal(textOf(await session.call('say', { n: 1 })), '{"n":1}');
    });

    test('the notice is not lost in the result of a cancelled call', async (t) => {
      const session = await open(t, of, negotiation);
      const cancel = new AbortController();
      const call = session.call('hang', {}, { signal: cancel.signal });
      call.catch(() => {});
      await session.stderr.find((line) => line === 'hang waits', 'the call');
      cancel.abort();
      await session.stderr.find((line) => line === 'hang was cancelled', 'the cancellation');

      await session.call('sitter_kill');
      const next = await session.call('say', { n: 1 });
      assert.match(next.content[0].text, restarted);
      const ids = session.messages.items.map(({ id }) => id).filter((id) => id !== undefined);
      assert.equal(new Set(ids).size, ids.length);
    });

    // This client chooses the schema for its check before it sends the call. The first result of a
    // changed tool is therefore lost, however long the bridge holds it.
    test('a changed output schema fails one result and does not lose the notice', async (t) => {
      const { options } = relisting();
      const session = await open(t, of, negotiation, options);
      const build = (key, value) => {
        const properties = { [key]: { type: typeof value } };
        const outputSchema = { type: 'object', properties, required: [key] };
        const measure = { name: 'measure', outputSchema, does: { structured: { [key]: value } } };
        session.box.write('tools.json', JSON.stringify({ tools: [measure, { name: 'say' }] }));
      };
      await session.call('say');
      await session.call('sitter_kill');
      build('metres', 3);
      await session.call('say');
      await session.toolNames();
      assert.deepEqual((await session.call('measure')).structuredContent, { metres: 3 });

      await session.call('sitter_kill');
      build('length', 'three metres');
      await assert.rejects(session.call('measure'), /output schema/);
      const next = await session.call('measure');
      assert.deepEqual(next.structuredContent, { length: 'three metres' });
      const noticed = await session.call('say', { n: 1 });
      assert.match(noticed.content[0].text, /^\[mcp-sitter\] server restarted \(spawn #3, /);
      assert.match(noticed.content[0].text, /1 schema changed \(measure\)/);
    });
  });
}

describe('a rebuild that speaks only the other era', () => {
  const changing = (box) => {
    const script = 'exec "$0" --era $(cat "$1")';
    return {
      build: (era) => box.write('era', era),
      command: ['/bin/sh', '-c', script, ownFakeMcp(box), box.path('era')],
    };
  };
  for (const [era, other, negotiation] of [
    ['legacy', 'modern', modes.legacy],
    ['modern', 'legacy', modes.auto],
  ]) {
    test(`${era}, then ${other}: the error explains it, and it can be undone`, async (t) => {
      const box = new Sandbox(t);
      const { build, command } = changing(box);
      build(era);
      const session = await SessionV2.open(box, sitting(command), {
        versionNegotiation: negotiation,
      });
      await session.call('echo', { text: 'hello' });

      await session.call('sitter_kill');
      build(other);
      const failed = await session.call('echo', { text: 'hello' });
      assert.equal(failed.isError, true);
      assert.match(textOf(failed), new RegExp(revision));
      assert.equal((await session.status()).protocolEra, era);
      build(era);
      await session.call('sitter_kill');
      const repaired = await session.call('echo', { text: 'hello' });
      assert.match(repaired.content[0].text, /^\[mcp-sitter\] server restarted/);
      assert.equal(repaired.content[1].text, 'hello');
    });
  }
});

// Nothing opens a session of the stateless era, so a call may be the first request of all.
describe('a crash in the first call is reported as a crash', () => {
  for (const [mode, negotiation] of Object.entries(modes)) {
    test(`the client ${mode}`, async (t) => {
      const session = await open(t, fake('--era', 'dual'), negotiation);

      const crashed = await session.call('crash', { code: 3 });
      assert.match(textOf(crashed), /may or may not have taken effect/);
      const next = await session.call('say', { n: 1 });
      assert.match(next.content[0].text, /previous: ⚠ crashed \(exit 3\)/);
      assert.doesNotMatch(next.content[0].text, /start failed/);
      assert.equal(next.content[1].text, '{"n":1}');
    });
  }
});

describe('a server of the other era', () => {
  test('does not end the session of a legacy client, and is reported', async (t) => {
    const session = await open(t, servers['fake-mcp --era modern'].of, modes.legacy);

    assert.match(session.client.getInstructions(), new RegExp(revision));
    assert.deepEqual(await session.toolNames(), sitterTools);
    const failed = await session.call('say');
    assert.equal(failed.isError, true);
    assert.match(textOf(failed), new RegExp(revision));
  });

  test('is refused by a pinned client, as without the bridge', async (t) => {
    const opening = open(t, servers['fake-mcp --era legacy'].of, { mode: { pin: revision } });
    await assert.rejects(opening, { code: 'ERA_NEGOTIATION_FAILED' });
  });
});

describe('an open listen stream', () => {
  const { of } = servers['fake-mcp --era modern'];
  const negotiation = modes.auto;
  const isOpen = async (subscription) =>
    (await Promise.race([subscription.closed, Promise.resolve('open')])) === 'open';
  const subscriptionId = ({ params }) => params._meta['io.modelcontextprotocol/subscriptionId'];
  const methods = (session) => session.notifications.items.map(({ method }) => method);

  for (const [serverName, more] of Object.entries({
    'fake-mcp': servers['fake-mcp --era modern'],
    // This server declares no listChanged and honours nothing, so the bridge itself sends the
    // changes.
    'a server that does not honour it': servers['a server on the second official SDK'],
    'a server that knows no streams': { of: fake('--era', 'modern', '--no-listen') },
  })) {
    test(`with ${serverName}: survives a restart and carries the new list`, async (t) => {
      const session = await open(t, more.of, negotiation);
      const subscription = await session.client.listen({ toolsListChanged: true });
      assert.equal(subscription.honoredFilter.toolsListChanged, true);
      assert.deepEqual(await session.toolNames(), [...common, ...sitterTools]);

      await session.call('sitter_kill');
      session.build([...common, 'added']);
      await session.call('say');
      const announced = await session.notified(listChanged);
      const opened = session.notifications.items.find(({ method }) => method === acknowledged);
      assert.equal(subscriptionId(announced), subscriptionId(opened));
      assert.deepEqual(methods(session), [acknowledged, listChanged]);
      assert.ok((await session.toolNames()).includes('added'));
      assert.ok(await isOpen(subscription));
      await subscription.close();
      assert.equal(await subscription.closed, 'local');
    });
  }

  test('survives kill -9, and the new server gets it under the same id', async (t) => {
    const session = await open(t, of, negotiation);
    const subscription = await session.client.listen({ toolsListChanged: true });
    const state = async () => JSON.parse((await session.call('state')).content.at(-1).text);
    const before = await state();

    const call = session.call('hang');
    process.kill((await session.status()).childPid, 'SIGKILL');
    assert.match(textOf(await call), /SIGKILL/);
    const after = await state();
    assert.notEqual(after.pid, before.pid);
    assert.deepEqual(after.listens, before.listens);
    assert.deepEqual(methods(session), [acknowledged]);
    assert.ok(await isOpen(subscription));
  });

  test('that the client closed is not opened again', async (t) => {
    const session = await open(t, of, negotiation);
    const subscription = await session.client.listen({ toolsListChanged: true });
    await subscription.close();

    await session.call('sitter_kill');
    session.build([...common, 'added']);
    const next = await session.call('state');
    assert.deepEqual(JSON.parse(next.content.at(-1).text).listens, []);
    assert.deepEqual(methods(session), [acknowledged]);
  });

  test('is closed by the bridge when the new server grants less', async (t) => {
    const box = new Sandbox(t);
    const flags = box.write('flags', '');
    const command = ['/bin/sh', '-c', 'exec "$0" --era modern --everything $(cat "$1")'];
    const session = await SessionV2.open(box, sitting([...command, ownFakeMcp(box), flags]), {
      versionNegotiation: negotiation,
    });
    const filter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
    const subscription = await session.client.listen({ ...filter, resourceSubscriptions: ['a:b'] });

    await session.call('sitter_kill');
    box.write('flags', '--listen-without uris');
    await session.call('echo', { text: 'hello' });
    assert.equal(await subscription.closed, 'remote');
  });
});

describe('a call that needs input', () => {
  const questions = [];
  const asked = {
    capabilities: { elicitation: {} },
    handlers: [
      [
        'elicitation/create',
        ({ params }) => {
          questions.push(params.message);
          return { action: 'accept', content: {} };
        },
      ],
    ],
  };
  for (const era of ['modern', 'dual']) {
    test(`of fake-mcp --era ${era}: its answer has the notice, not the question`, async (t) => {
      const session = await open(t, fake('--era', era), modes.auto, asked);
      await session.call('say');
      await session.call('sitter_kill');

      const before = session.messages.items.length;
      const questionCount = questions.length;
      const done = await session.call('input_required', { state: 'the "state"' });
      assert.equal(questions.length, questionCount + 1);
      const [question, answer, ...more] = session.messages.items.slice(before);
      assert.equal(question.result.resultType, 'input_required');
      assert.equal(question.result.requestState, 'the "state"');
      assert.doesNotMatch(JSON.stringify(question), /\[mcp-sitter\]/);
      assert.equal(answer.result.resultType, 'complete');
      assert.deepEqual(more, []);
      assert.match(done.content[0].text, restarted);
      assert.match(textOf({ content: done.content.slice(1) }), /the \\?"state/);
      assert.doesNotMatch(textOf(await session.call('say')), /\[mcp-sitter\]/);
    });
  }

  test('is answered to the current server, even if its predecessor asked', async (t) => {
    let session;
    const killing = async () => {
      await session.call('sitter_kill');
      return { action: 'accept', content: {} };
    };
    session = await open(t, fake('--era', 'modern'), modes.auto, {
      capabilities: { elicitation: {} },
      handlers: [['elicitation/create', killing]],
    });

    const done = await session.call('input_required', { state: 'first' });
    assert.match(textOf(done), /server restarted \(spawn #2, .* previous: killed by sitter_kill/);
    assert.match(textOf(done), /first/);
  });
});

// The client asks either a second process, which ends after that, or the process that it goes on
// with.
for (const [where, Class] of Object.entries({
  'in a process of its own': SessionV2,
  'in place': SessionInPlace,
})) {
  describe(`the probe ${where}`, () => {
    // The client waits this long for a server that is silent or starts slowly.
    const probing = { mode: 'auto', probe: { timeoutMs: 3000 } };
    for (const [title, flags] of Object.entries({
      'answered with an error': [],
      'not answered': ['--never-answer', 'server/discover'],
      'answered by an exit': ['--exit-on', 'server/discover=1'],
      'answered by an exit with 0': ['--exit-on', 'server/discover=0'],
    })) {
      test(`${title}: the client falls back to initialize and the session is sound`, async (t) => {
        const session = await open(t, fake(...flags), probing, {}, Class);

        assert.equal(session.client.getProtocolEra(), 'legacy');
        assert.deepEqual(await session.toolNames(), [...common, ...sitterTools]);
        assert.deepEqual((await session.call('say', { n: 1 })).content, [
          { type: 'text', text: '{"n":1}' },
        ]);
        assert.equal((await session.status()).protocolEra, 'legacy');
        await session.call('sitter_kill');
        const next = await session.call('say', { n: 1 });
        assert.match(next.content[0].text, /previous: killed by sitter_kill after /);
        assert.equal(next.content[1].text, '{"n":1}');
      });
    }

    for (const era of ['modern', 'dual']) {
      test(`answered by fake-mcp --era ${era}: the session is modern`, async (t) => {
        const session = await open(t, fake('--era', era), probing, {}, Class);

        assert.equal(session.client.getProtocolEra(), 'modern');
        assert.deepEqual(await session.toolNames(), [...common, ...sitterTools]);
        assert.equal((await session.status()).protocolEra, 'modern');
      });
    }

    test('of a server that cannot start: the client falls back and is told why', async (t) => {
      const box = new Sandbox(t);
      const command = sitting([box.path('not-built')]);
      const session = await Class.open(box, command, { versionNegotiation: probing });

      assert.equal(session.client.getProtocolEra(), 'legacy');
      assert.match(session.client.getInstructions(), /no such file/i);
      assert.deepEqual(await session.toolNames(), sitterTools);
    });
  });
}
