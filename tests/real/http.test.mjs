// The bridge in front of daemons over HTTP that are restarted.
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Daemon, bridged, everything, sdk1, sdk2 } from './support/daemon.mjs';
import { planOf } from './support/plan.mjs';
import { Relay } from './support/relay.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Session, textOf } from './support/session.mjs';
import { SessionV2 } from './support/session_v2.mjs';
import { Mailbox, until } from './support/waiting.mjs';

const sitterTools = ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'];
const listChanged = 'notifications/tools/list_changed';
/** How a notice begins. */
const restarted = (spawn = 2) => new RegExp(`^\\[mcp-sitter\\] server restarted \\(spawn #${spawn}, startup `);

const echo = { name: 'echo', does: { answer: 'an echo' } };
const stall = { name: 'stall', does: { progress: 1, waits: true } };
const steps = { name: 'steps', does: { progress: 20, answer: 'done' } };
const added = { name: 'added', does: { answer: 'just built' } };

const loud = { type: 'object', properties: { loud: { type: 'boolean' } } };

// The daemons and their clients, and the calls with which the tests use them.
const ours = (command, more) => ({
  isOurs: true,
  command: (box, tools = [echo, stall, steps]) => command(box.write('plan.json', planOf(...tools))),
  Class: Session,
  echo: ['echo', {}],
  echoed: 'an echo',
  stall: ['stall', {}],
  steps: ['steps', {}],
  ...more,
});

const ask = { name: 'ask', does: { asks: 'How many?' } };
const answering = {
  options: {
    capabilities: { elicitation: {} },
    handlers: [[ElicitRequestSchema, () => ({ action: 'accept', content: { n: 1 } })]],
  },
};

const pinned = {
  Class: SessionV2,
  options: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
};

const daemons = {
  'server-everything': {
    command: everything,
    Class: Session,
    echo: ['echo', { message: 'hello' }],
    echoed: 'Echo: hello',
    stall: ['trigger-long-running-operation', { duration: 6000, steps: 60000 }],
    steps: ['trigger-long-running-operation', { duration: 0.2, steps: 20 }],
  },
  'SDK 1 with sessions': ours((plan) => sdk1(plan, 'sessions'), { hasSessions: true }),
  'SDK 1 with event ids': ours((plan) => sdk1(plan, 'resumable'), { hasSessions: true }),
  'SDK 1 with a single session': ours((plan) => sdk1(plan, 'single'), {
    hasSessions: true,
    isSingle: true,
  }),
  'SDK 1 without sessions': ours((plan) => sdk1(plan, 'stateless')),
  'SDK 2': ours(sdk2),
  'SDK 2, the client stateless': ours(sdk2, { ...pinned, isStateless: true }),
};

/** A session through the bridge with a daemon of this kind. */
async function open(t, { command, tools, Class, options, flags = [] }) {
  const box = new Sandbox(t);
  const daemon = await Daemon.start(box, command(box, tools));
  const session = await Class.open(box, bridged(daemon.url, ...flags), options);
  return Object.assign(session, { box, daemon });
}

/** Gives the daemon these tools when it starts next. */
const build = ({ box }, ...tools) => box.write('plan.json', planOf(...tools));

/** The blocks of text in a tool's result. */
const blocks = (result) => result.content.map(({ text }) => text);

/** Calls a tool, and waits until the daemon has begun to work on it. */
async function begin(session, [name, args]) {
  let onBegun;
  const begun = new Promise((resolve) => (onBegun = resolve));
  const result = session.call(name, args, { onprogress: () => onBegun() });
  await Promise.race([begun, result]);
  return { result };
}

/** A client cancels a call, and calls again. */
async function cancelled(session) {
  const cancel = new AbortController();
  const call = session.call('stall', {}, { signal: cancel.signal, onprogress: () => {} });
  call.catch(() => {});
  await session.daemon.stderr.find((line) => line === 'stall waits', 'the call');
  cancel.abort('no longer needed');
  await assert.rejects(call, /no longer needed/);
  await session.daemon.stderr.find((line) => line === 'stall was cancelled', 'the cancellation');
  assert.deepEqual(blocks(await session.call('echo')), ['an echo']);
}

/** A call over a network that can fail. The daemon answers it after `release()`. */
async function held(t, name) {
  const box = new Sandbox(t);
  const holds = box.path('released');
  const hold = { name: 'hold', does: { progress: 1, holds, answer: 'released' } };
  const daemon = await Daemon.start(box, daemons[name].command(box, [echo, hold]));
  const relay = await Relay.start(box, daemon.port);
  const session = Object.assign(await Session.open(box, bridged(relay.url)), { daemon });
  const { result } = await begin(session, ['hold', {}]);
  return { session, relay, result, release: () => box.write('released', '') };
}

for (const [name, kind] of Object.entries(daemons)) {
  test(`${name}: a session`, async (t) => {
    const { echo: echoCall, echoed } = kind;
    const changes = new Mailbox();
    const onChanged = (error, tools) => changes.push(error ?? tools.map((tool) => tool.name));
    const options = kind.isOurs ? { ...kind.options, listChanged: { tools: { onChanged } } } : {};
    const session = await open(t, { ...kind, options });

    /** A call is answered, and is the first to say that the server was restarted. */
    const saysRestarted = async (spawn, call) => {
      const [notice, answer] = blocks(await call);
      assert.match(notice, restarted(spawn));
      assert.equal(answer, echoed);
      assert.deepEqual(blocks(await session.call(...echoCall)), [echoed]);
    };

    await t.test('progress comes before the answer, all of it', async () => {
      await session.call(...kind.steps, { onprogress: () => {} });
      const seen = session.messages.items
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => params.progress);
      assert.deepEqual(
        seen,
        Array.from({ length: 20 }, (_, index) => index + 1),
      );
    });

    if (kind.hasSessions || kind.isStateless) {
      await t.test('a cancellation reaches the daemon, and the session goes on', () =>
        cancelled(session),
      );
    }

    await t.test('restarted between two calls: the second call is answered, with a notice', async () => {
      assert.deepEqual(blocks(await session.call(...echoCall)), [echoed]);
      await session.daemon.restart();
      await saysRestarted(2, session.call(...echoCall));
    });

    await t.test('down before a call: the call waits until it is back', async () => {
      await session.daemon.kill();
      const call = session.call(...echoCall);
      const { absence } = await until(
        async () => {
          const status = await session.status();
          return status.absence && status;
        },
        () => 'the absence',
      );
      assert.equal(absence.why, `nothing listens on 127.0.0.1:${session.daemon.port}`);
      if (!kind.isStateless) await session.client.ping();
      await session.daemon.start();
      await saysRestarted(3, call);
    });

    await t.test('killed in a call: the call may have taken effect, and is not repeated', async () => {
      const { result } = await begin(session, kind.stall);
      await session.daemon.kill();
      const lost = await result;
      assert.equal(lost.isError, true);
      assert.match(
        textOf(lost),
        /^\[mcp-sitter\] the (answer of|connection to) the server was lost/,
      );
      assert.match(textOf(lost), /may or may not have taken effect/);
      assert.doesNotMatch(textOf(lost), /\b(pid|exit|crash)/);
      await session.daemon.start();
      await saysRestarted(4, session.call(...echoCall));
    });

    if (!kind.isOurs) return;
    await t.test('other tools: the notice names them, and the client hears of the change', async () => {
      assert.deepEqual(await session.toolNames(), ['echo', 'stall', 'steps', ...sitterTools]);
      build(session, { ...echo, inputSchema: loud }, added);
      await session.daemon.restart();
      const [notice] = blocks(await session.call('echo'));
      assert.match(notice, /tools: \+1 added \(added\), -2 removed \(stall, steps\), 1 schema/);
      assert.match(notice, /^echo: \+loud \(boolean, optional\)$/m);
      const names = await changes.find(() => true, 'the new list');
      assert.deepEqual(names, ['echo', 'added', ...sitterTools]);
      assert.deepEqual(blocks(await session.call('added')), ['just built']);
    });
  });
}

/** The daemons of which this holds. */
const those = (holds) => Object.entries(daemons).filter(([, kind]) => holds(kind));

for (const [name, kind] of those(({ hasSessions }) => hasSessions)) {
  test(`${name}: a session with --restart eager`, async (t) => {
    const flags = ['--restart', 'eager'];
    const session = await open(t, { ...kind, ...answering, flags, tools: [ask] });
    const answer = '{"action":"accept","content":{"n":1}}';

    await t.test('a question in a call is answered by the client', async () => {
      assert.equal(textOf(await session.call('ask')), answer);
      await session.daemon.restart();
      const [notice, last] = blocks(await session.call('ask'));
      assert.match(notice, restarted());
      assert.equal(last, answer);
    });

    await t.test('questions in more calls than have connections are all answered', async () => {
      const calls = Array.from({ length: 50 }, () => session.call('ask'));
      for (const result of await Promise.all(calls)) assert.equal(textOf(result), answer);
    });

    await t.test('the client hears of other tools without a call', async () => {
      await session.toolNames();
      await session.daemon.kill();
      build(session, echo, added);
      await session.daemon.start();
      await session.notified(listChanged);
      assert.deepEqual(await session.toolNames(), ['echo', 'added', ...sitterTools]);
    });
  });
}

describe('a stream with event ids', () => {
  for (const drops of ['at once', 'when resumed']) {
    test(`that the daemon ends goes on where it was; answered ${drops}`, async (t) => {
      const long = { name: 'long', does: { progress: 3, drops, answer: 'the whole answer' } };
      const session = await open(t, { ...daemons['SDK 1 with event ids'], tools: [long] });

      const result = await session.call('long', {}, { onprogress: () => {} });
      assert.deepEqual(blocks(result), ['the whole answer']);
      const seen = session.messages.items.filter((m) => m.method === 'notifications/progress');
      assert.equal(seen.length, 3);
      assert.ok(session.daemon.stderr.items.includes('a stream is resumed'));
    });
  }

  test('whose connection breaks goes on where it was', async (t) => {
    const { session, relay, result, release } = await held(t, 'SDK 1 with event ids');

    const before = session.daemon.stderr.items.length;
    relay.cut();
    await session.daemon.stderr.find((l) => l === 'a stream is resumed', 'the GET', before);
    release();
    assert.deepEqual(blocks(await result), ['released']);
    assert.equal((await session.status()).spawnCount, 1);
  });

  test('whose daemon is restarted is lost with its session', async (t) => {
    const session = await open(t, daemons['SDK 1 with event ids']);

    const { result } = await begin(session, ['stall', {}]);
    await session.daemon.restart();
    const lost = await result;
    assert.equal(lost.isError, true);
    assert.match(textOf(lost), /may or may not have taken effect/);
    assert.match(blocks(await session.call('echo'))[0], restarted());
  });
});

for (const name of ['SDK 1 with sessions', 'SDK 1 without sessions', 'SDK 2']) {
  test(`${name}: a connection that breaks in a call costs this call only`, async (t) => {
    const { session, relay, result } = await held(t, name);

    relay.cut();
    const lost = await result;
    assert.equal(lost.isError, true);
    assert.match(textOf(lost), /may or may not have taken effect/);
    assert.deepEqual(blocks(await session.call('echo')), ['an echo']);
    assert.equal((await session.status()).spawnCount, 1);
  });
}

describe('two bridges on one daemon', () => {
  // server-everything and the daemon with event ids keep sessions as the first of these does.
  for (const name of ['SDK 1 with sessions', 'SDK 1 without sessions', 'SDK 2', 'SDK 2, the client stateless']) {
    const kind = daemons[name];
    test(`${name}: each has its own session, before and after a restart`, async (t) => {
      const one = await open(t, kind);
      const two = await kind.Class.open(one.box, bridged(one.daemon.url), kind.options);
      const both = () =>
        Promise.all([one, two].map(async (session) => blocks(await session.call(...kind.echo))));

      assert.deepEqual(await both(), [[kind.echoed], [kind.echoed]]);
      await one.daemon.restart();
      for (const [notice, answer] of await both()) {
        assert.match(notice, restarted());
        assert.equal(answer, kind.echoed);
      }
      await one.client.close();
      assert.deepEqual(blocks(await two.call(...kind.echo)), [kind.echoed]);
    });
  }

  test('a daemon of one session tells the second one to restart it', async (t) => {
    const kind = daemons['SDK 1 with a single session'];
    const one = await open(t, kind);
    const two = await kind.Class.open(one.box, bridged(one.daemon.url));

    assert.match(two.client.getInstructions(), /serves one session only and has one already/);
    assert.deepEqual(blocks(await one.call('echo')), ['an echo']);
    await one.client.close();
    await one.daemon.restart();
    assert.equal(blocks(await two.call('echo')).at(-1), 'an echo');
  });

  test('the end of one ends its session, unless it is to be kept', async (t) => {
    const box = new Sandbox(t);
    const daemon = await Daemon.start(box, sdk1(box.write('plan.json', planOf(echo)), 'sessions'));
    const count = (line) => daemon.stderr.items.filter((one) => one === line).length;

    const kept = await Session.open(box, bridged(daemon.url, '--keep-session'));
    await kept.client.close();
    const ended = await Session.open(box, bridged(daemon.url));
    await ended.client.close();
    await box.nothingLeft();
    assert.equal(count('session opened'), 2);
    assert.equal(count('session closed'), 1);
  });
});

describe('a daemon that the bridge starts', () => {
  const fail = { name: 'fail', does: { stderr: ['fatal: row 17 is out of range'], exit: 3 } };

  /** The address and the command of a daemon that does not run yet. */
  async function unstarted(box) {
    const command = sdk1(box.write('plan.json', planOf(echo, fail)), 'sessions');
    const daemon = await Daemon.start(box, command);
    await daemon.kill();
    return { url: daemon.url, command, env: { PORT: String(daemon.port) } };
  }

  test('with --own-daemon ends with the session; its crash is told, and it starts again', async (t) => {
    const box = new Sandbox(t);
    const { url, command, env } = await unstarted(box);

    const session = await Session.open(box, bridged(url, '--own-daemon', '--', ...command), {
      env,
    });
    assert.deepEqual(blocks(await session.call('echo')), ['an echo']);
    const failed = await session.call('fail');
    assert.equal(failed.isError, true);
    assert.match(textOf(failed), /crashed \(exit 3\).*fatal: row 17 is out of range/s);
    const [notice, answer] = blocks(await session.call('echo'));
    assert.match(notice, /^\[mcp-sitter\] server restarted .*crashed \(exit 3\)/);
    assert.equal(answer, 'an echo');
    await session.client.close();
    await box.nothingLeft();
  });

  test('without it lives on, and belongs to the next bridge with the same command', async (t) => {
    const box = new Sandbox(t);
    const { url, command, env } = await unstarted(box);

    const one = await Session.open(box, bridged(url, '--', ...command), { env });
    assert.deepEqual(blocks(await one.call('echo')), ['an echo']);
    await one.client.close();
    const [{ pid }] = box.processes().filter(({ command: words }) => words.includes('sdk1.mjs'));
    const two = await Session.open(box, bridged(url, '--own-daemon', '--', ...command), { env });
    assert.deepEqual(blocks(await two.call('echo')), ['an echo']);
    const { killed } = JSON.parse(textOf(await two.call('sitter_kill')));
    assert.ok(killed.some((one) => one.pid === pid && one.relation === 'child'));
    await two.client.close();
    await box.nothingLeft();
  });
});
