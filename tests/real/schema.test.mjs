// Every line that the bridge writes, in either direction, is checked by the schema of its revision.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Judge, revisions } from './support/judge.mjs';
import { ownFakeMcp, sitting } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Wire } from './support/wire.mjs';

const sitterTools = ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'];
const prefix = 'io.modelcontextprotocol/';
const listMethods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
const info = { name: 'judge', version: '1' };

/** A client that knows a revision, and judges what the bridge sends to client and server. */
class Talk {
  #box;
  #wire;
  #judge;
  /** The method of each request, by its id. */
  #asked = new Map();
  #count = 0;

  constructor(t, revision, command, box = new Sandbox(t)) {
    this.#box = box;
    this.#wire = new Wire(box, sitting(command));
    this.#judge = new Judge(revision);
    this.revision = revision;
    this.isModern = revision === '2026-07-28';
  }

  /** A client of fake-mcp, which reads its flags from a file each time that it starts. */
  static withFake(t, revision, ...flags) {
    const box = new Sandbox(t);
    // tee keeps a copy of what the server is sent. tee holds no pipe but the input.
    const copying =
      'log=$1 flags=$2; shift 2; exec 3<&0; ' +
      'exec "$@" $(cat "$flags") < <(exec tee -a "$log" <&3 3<&- 2>/dev/null) 3<&-';
    const command = ['bash', '-c', copying, 'bash', box.path('input'), box.path('flags')];
    const talk = new Talk(t, revision, [...command, ownFakeMcp(box)], box);
    talk.setFlags(...(talk.isModern ? ['--era', 'modern'] : []), ...flags);
    return talk;
  }

  setFlags(...flags) {
    this.#box.write('flags', flags.join(' '));
  }

  write(name, value) {
    return this.#box.write(name, JSON.stringify(value));
  }

  get messages() {
    return this.#wire.lines.items.flatMap((line) => JSON.parse(line));
  }

  /** Sends the text as it is, and remembers the requests in it. */
  sendText(text) {
    for (const { id, method } of [JSON.parse(text)].flat()) this.#asked.set(id, method);
    this.#wire.send(text);
  }

  /** Sends a line that may be no message, or no text at all. */
  sendBytes(bytes) {
    this.#wire.process.stdin.write(bytes);
    this.#wire.process.stdin.write('\n');
  }

  notify(method, params) {
    this.#wire.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /** Sends a request and returns its id. */
  ask(method, params = {}) {
    const id = `r${++this.#count}`;
    this.#asked.set(id, method);
    const _meta = {
      [`${prefix}protocolVersion`]: this.revision,
      [`${prefix}clientInfo`]: info,
      [`${prefix}clientCapabilities`]: {},
    };
    const all = { ...params, ...(this.isModern && { _meta }) };
    this.#wire.send({ jsonrpc: '2.0', id, method, params: all });
    return id;
  }

  async answerTo(id) {
    return JSON.parse(await this.#wire.answer(id));
  }

  async request(method, params) {
    return this.answerTo(this.ask(method, params));
  }

  async call(name, args = {}) {
    return (await this.request('tools/call', { name, arguments: args })).result;
  }

  /** The first message that matches. Waits for it if need be. */
  async find(matches, what) {
    return JSON.parse(await this.#wire.lines.find((line) => matches(JSON.parse(line)), what));
  }

  notified(method) {
    return this.find((message) => message.method === method, method);
  }

  /** Opens the session in the way of the revision, and returns the answer. */
  async open(capabilities = {}) {
    if (this.isModern) return this.request('server/discover');
    const { revision: protocolVersion } = this;
    const params = { protocolVersion, capabilities, clientInfo: info };
    const answer = await this.request('initialize', params);
    this.notify('notifications/initialized');
    return answer;
  }

  /** Everything that the server was sent, over all its lives. */
  get input() {
    const path = this.#box.path('input');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line));
  }

  /** Ends the session and judges all messages but those for which `isExcepted` is true. */
  async judge(isExcepted = () => false) {
    assert.equal(await this.#wire.end(), 0);
    for (const message of this.messages) {
      if (isExcepted(message)) continue;
      const fault = this.#judge.faultOf(message, this.#asked.get(message.id));
      assert.equal(fault, null, JSON.stringify(message));
      if (message.error) {
        const own = [-32700, -32600, -32601, -32602, -32603];
        assert.ok(own.includes(message.error.code), JSON.stringify(message));
      }
    }
    for (const message of this.input) {
      const fault = message.method
        ? this.#judge.faultOf(message)
        : this.#judge.faultOfFrame(message);
      assert.equal(fault, null, JSON.stringify(message));
    }
  }
}

/** Calls every built-in tool, with valid and with invalid arguments. */
async function callBuiltIns(talk) {
  for (const name of ['sitter_status', 'sitter_binary_info', 'sitter_child_stderr']) {
    const result = await talk.call(name);
    assert.equal(result.content[0].type, 'text');
  }
  assert.equal((await talk.call('sitter_child_stderr', { wrong: 1 })).isError, true);
  assert.equal((await talk.call('sitter_kill', { scope: 'everything' })).isError, true);
  assert.equal((await talk.call('sitter_child_stderr', { grep: '(' })).isError, true);
}

/** The paths to all members, at any depth. */
function* pathsIn(value, path = []) {
  if (value === null || typeof value !== 'object') return;
  for (const [key, member] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [...path, key];
    yield* pathsIn(member, [...path, key]);
  }
}

/** The members that must not be missing, named without the positions in arrays. */
function membersNeeded(message, faultOf) {
  const names = new Set();
  for (const path of pathsIn(message)) {
    const copy = structuredClone(message);
    delete path.slice(0, -1).reduce((value, key) => value[key], copy)[path.at(-1)];
    if (faultOf(copy) !== null) names.add(path.filter((key) => !/^\d+$/.test(key)).join('.'));
  }
  return names;
}

const toolNamed = (name) => ({ name, inputSchema: { type: 'object' } });
const promptNamed = (name) => ({ name });
const resourceNamed = (name) => ({ name, uri: `test://${name}` });

for (const revision of revisions) {
  const isModern = revision === '2026-07-28';
  const hasNullIds = revision < '2025-11-25';

  describe(`${revision}: valid are`, () => {
    test('the answers of a bridge whose server is missing', async (t) => {
      const talk = new Talk(t, revision, ['/nowhere/server']);
      const opening = await talk.open();
      if (isModern) {
        assert.equal(opening.error.code, -32601);
      } else {
        assert.equal(opening.result.protocolVersion, revision);
        assert.equal(opening.result.serverInfo.name, 'mcp-sitter');
        assert.deepEqual((await talk.request('ping')).result, {});
        assert.deepEqual((await talk.request('logging/setLevel', { level: 'info' })).result, {});
      }
      for (const method of listMethods) {
        const { result } = await talk.request(method);
        const list = result.tools ?? result.prompts ?? result.resources ?? result.resourceTemplates;
        const names = method === 'tools/list' ? sitterTools : [];
        assert.deepEqual(
          list.map(({ name }) => name),
          names,
        );
      }
      assert.equal((await talk.call('echo')).isError, true);
      assert.equal((await talk.request('resources/read', { uri: 'a:b' })).error.code, -32603);
      await callBuiltIns(talk);
      assert.equal(JSON.parse((await talk.call('sitter_kill')).content[0].text).count, 0);
      await talk.judge();
    });

    test('the opening and the lists of the server, with what is spliced in', async (t) => {
      const talk = Talk.withFake(t, revision, '--everything');
      const { result } = await talk.open();
      assert.equal(result.capabilities.tools.listChanged, true);
      assert.match(result.instructions, /sitter_/);
      for (const method of listMethods) {
        const list = (await talk.request(method)).result;
        if (isModern) assert.equal(list.ttlMs, 0);
        if (list.tools) {
          const added = list.tools.slice(-4);
          assert.deepEqual(
            added.map(({ name }) => name),
            sitterTools,
          );
          // No revision forbids these members, and every revision knows them.
          for (const tool of added) {
            const members = ['annotations', 'description', 'inputSchema', 'name'];
            assert.deepEqual(Object.keys(tool).sort(), members);
          }
        }
      }
      await callBuiltIns(talk);
      await talk.judge();
    });

    test('what is said about a crash, and the notice', async (t) => {
      const talk = Talk.withFake(t, revision, '--everything', '--never-answer', 'resources/read');
      await talk.open();
      await talk.call('echo', { text: 'hello' });

      const reading = talk.ask('resources/read', { uri: 'test://x' });
      const hanging = talk.ask('tools/call', { name: 'hang', arguments: {} });
      const crashed = await talk.call('crash', { code: 3, stderr: 'last words' });
      assert.equal(crashed.isError, true);
      assert.match(crashed.content[0].text, /last words/);
      assert.equal((await talk.answerTo(hanging)).result.isError, true);
      const notice = await talk.call('structured', { n: 1 });
      assert.match(notice.content.at(-1).text, /^\[mcp-sitter\] server restarted/);
      const again = await talk.call('echo', { text: 'hello' });
      assert.match(again.content[0].text, /^\[mcp-sitter\] server restarted/);
      // The read was sent once more, and the second server does not answer it either.
      await talk.call('sitter_kill');
      assert.equal((await talk.answerTo(reading)).error.code, -32603);
      await talk.judge();
    });

    test('what sitter_kill answers, and all that it ends', async (t) => {
      const silent = ['prompts/get', 'completion/complete', 'resources/read'];
      const flags = silent.flatMap((method) => ['--never-answer', method]);
      const talk = Talk.withFake(t, revision, '--everything', ...flags);
      await talk.open();
      await talk.call('echo', { text: 'hello' });

      const ids = [
        talk.ask('tools/call', { name: 'hang', arguments: {} }),
        talk.ask('prompts/get', { name: 'x' }),
        talk.ask('completion/complete', {
          ref: { type: 'ref/prompt', name: 'x' },
          argument: { name: 'a', value: 'b' },
        }),
        talk.ask('resources/read', { uri: 'test://x' }),
      ];
      assert.equal(JSON.parse((await talk.call('sitter_kill')).content[0].text).count > 0, true);
      assert.equal((await talk.answerTo(ids[0])).result.isError, true);
      for (const id of ids.slice(1)) assert.equal((await talk.answerTo(id)).error.code, -32603);
      await callBuiltIns(talk);
      await talk.judge();
    });

    test('list_changed, the lists after it, and a stale cursor', async (t) => {
      const talk = Talk.withFake(t, revision);
      const lists = { tools: toolNamed, prompts: promptNamed, resources: resourceNamed };
      const build = (...names) => {
        const flags = Object.entries(lists).flatMap(([kind, make]) => [
          `--${kind}`,
          talk.write(`${kind}.json`, names.map(make)),
        ]);
        talk.setFlags(...(isModern ? ['--era', 'modern'] : []), '--pages', '2', ...flags);
      };
      build('a', 'b');
      await talk.open();
      const filter = { toolsListChanged: true, promptsListChanged: true };
      const all = { ...filter, resourcesListChanged: true };
      if (isModern) {
        talk.ask('subscriptions/listen', { notifications: all });
        await talk.notified('notifications/subscriptions/acknowledged');
      }
      const first = (await talk.request('tools/list')).result;
      assert.deepEqual(
        first.tools.map(({ name }) => name),
        ['a', ...sitterTools],
      );
      const second = (await talk.request('tools/list', { cursor: first.nextCursor })).result;
      assert.deepEqual(second.tools, [toolNamed('b')]);
      for (const method of listMethods.slice(1, 3)) await talk.request(method);

      await talk.call('sitter_kill');
      build('a', 'b', 'c');
      const notice = await talk.call('a');
      assert.match(notice.content[0].text, /tools: \+1 added \(c\)/);
      for (const kind of Object.keys(lists)) {
        const changed = await talk.notified(`notifications/${kind}/list_changed`);
        const id = changed.params?._meta?.[`${prefix}subscriptionId`];
        assert.equal(typeof id, isModern ? 'string' : 'undefined');
      }
      const stale = await talk.request('tools/list', { cursor: first.nextCursor });
      assert.equal(stale.error.code, -32602);
      for (const method of listMethods.slice(0, 3)) await talk.request(method);
      await talk.judge();
    });

    test('the last known lists of a server that starts no more', async (t) => {
      const talk = Talk.withFake(t, revision, '--everything');
      await talk.open();
      const names = async (method) => {
        const { result } = await talk.request(method);
        const list = result.tools ?? result.prompts ?? result.resources ?? result.resourceTemplates;
        return list.map(({ name }) => name);
      };
      const known = new Map();
      for (const method of listMethods) known.set(method, await names(method));

      await talk.call('sitter_kill');
      talk.setFlags('--stderr', 'broken', '--exit-at-start', '3');
      for (const method of ['tools/list', 'prompts/list', 'resources/list']) {
        assert.deepEqual(await names(method), known.get(method));
      }
      await names('resources/templates/list');
      const failed = await talk.call('echo', { text: 'hello' });
      assert.equal(failed.isError, true);
      assert.match(failed.content[0].text, /exit(ed)?( with)?( code)? 3/);
      assert.equal((await talk.request('resources/read', { uri: 'a:b' })).error.code, -32603);
      await callBuiltIns(talk);
      await talk.judge();
    });

    test('the answers to lines that are not requests', async (t) => {
      const talk = Talk.withFake(t, revision);
      if (!isModern) {
        const early = await talk.request('tools/list');
        assert.equal(early.error.code, -32600);
      }
      await talk.open();
      await talk.call('echo', { text: 'hello' });
      const before = talk.messages.length;
      const withoutId = ['{', '5', '"text"', '{}', '[]', '{"jsonrpc":"2.0","params":{}}'];
      for (const text of withoutId) talk.sendBytes(text);
      talk.sendBytes(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
      for (const id of ['"m"', '17']) talk.sendBytes(`{"jsonrpc":"2.0","id":${id},"method":5}`);
      for (const id of ['m', 17]) {
        assert.equal((await talk.answerTo(id)).error.code, -32600);
      }
      await talk.call('echo', { text: 'hello' });
      const answers = talk.messages.slice(before).filter(({ error }) => error);
      assert.equal(answers.length, withoutId.length + 3);
      const codes = new Set(answers.map(({ error }) => error.code));
      assert.deepEqual(codes, new Set([-32700, -32600]));
      const isUnreadable = ({ error, id }) => error && (id === null || id === undefined);
      const unreadable = answers.filter(isUnreadable);
      assert.equal(unreadable.length, withoutId.length + 1);
      for (const message of unreadable) assert.equal('id' in message, hasNullIds);
      // Before 2025-11-25 no error without an id is valid, and no revision allows a null id.
      await talk.judge((message) => hasNullIds && isUnreadable(message));
    });

    if (revision === '2025-03-26') {
      test('the answers to a batch', async (t) => {
        const talk = Talk.withFake(t, revision);
        await talk.open();
        const batch = [
          { jsonrpc: '2.0', id: 'b1', method: 'tools/list' },
          { jsonrpc: '2.0', id: 'b3', method: 'ping' },
          { jsonrpc: '2.0', id: 'b2', method: 5 },
          { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
        ];
        talk.sendText(JSON.stringify(batch));
        await talk.find(Array.isArray, 'the array of answers');
        const answers = talk.messages.filter(({ id }) => /^b/.test(id));
        assert.deepEqual(answers.map(({ id }) => id).sort(), ['b1', 'b2', 'b3']);
        await talk.judge();
      });
    }
  });

  describe(`${revision}: valid is what the server is sent`, () => {
    test('after its first start: only what the client sent, and lists', async (t) => {
      const talk = Talk.withFake(t, revision, '--everything');
      await talk.open();
      await talk.call('echo', { text: 'hello' });
      await talk.call('state');
      await talk.judge();
      assert.ok(talk.input.some(({ method, id }) => method === 'tools/list' && id !== undefined));
    });

    if (!isModern) {
      test('when the session is opened again, with what the client had set up', async (t) => {
        const talk = Talk.withFake(t, revision, '--everything');
        await talk.open({ roots: {} });
        await talk.request('logging/setLevel', { level: 'error' });
        await talk.request('resources/subscribe', { uri: 'test://x' });
        await talk.call('sitter_kill');
        const before = talk.input.length;
        await talk.call('echo', { text: 'hello' });
        const sent = talk.input.slice(before).map(({ method }) => method);
        assert.deepEqual(sent.slice(0, 4), [
          'initialize',
          'notifications/initialized',
          'logging/setLevel',
          'resources/subscribe',
        ]);
        assert.ok(sent.includes('tools/list'));
        assert.equal(talk.input[before].params.protocolVersion, revision);
        const { params } = await talk.notified('notifications/resources/updated');
        assert.equal(params.uri, 'test://x');
        await talk.judge();
      });

      test('the answer to its question; the question of a dead one is withdrawn', async (t) => {
        const talk = Talk.withFake(t, revision, '--ask', 'roots/list');
        await talk.open({ roots: {} });
        const isQuestion = ({ method }) => method === 'roots/list';
        const question = await talk.find(isQuestion, 'the question');
        await talk.call('sitter_kill');
        const withdrawn = await talk.notified('notifications/cancelled');
        assert.equal(withdrawn.params.requestId, question.id);

        await talk.call('echo', { text: 'hello' });
        const isSecond = ({ method, id }) => method === 'roots/list' && id !== question.id;
        const { id } = await talk.find(isSecond, 'the second question');
        talk.sendText(JSON.stringify({ jsonrpc: '2.0', id, result: { roots: [] } }));
        await talk.call('echo', { text: 'hello' });
        await talk.judge();
        assert.ok(talk.input.some(({ result }) => result?.roots));
      });
    }

    if (isModern) {
      const filter = {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: ['test://x'],
      };

      test('when a stream is opened again, under its own id and with no token', async (t) => {
        const talk = Talk.withFake(t, revision, '--everything');
        await talk.call('echo', { text: 'hello' });
        const stream = talk.ask('subscriptions/listen', { notifications: filter });
        await talk.notified('notifications/subscriptions/acknowledged');
        await talk.call('sitter_kill');
        const before = talk.input.length;
        await talk.call('echo', { text: 'hello' });
        const sent = talk.input.slice(before);
        assert.deepEqual(
          sent.filter(({ method }) => method === 'subscriptions/listen').map(({ id }) => id),
          [stream],
        );
        for (const { method, params } of sent) {
          if (method.endsWith('/list')) {
            assert.equal(params._meta[`${prefix}protocolVersion`], revision);
            assert.deepEqual(params._meta[`${prefix}clientInfo`], info);
            assert.equal(params._meta.progressToken, undefined);
          }
        }
        const updated = await talk.notified('notifications/resources/updated');
        assert.equal(updated.params.uri, 'test://x');
        assert.equal(updated.params._meta[`${prefix}subscriptionId`], stream);
        const acknowledged = 'notifications/subscriptions/acknowledged';
        assert.equal(talk.messages.filter(({ method }) => method === acknowledged).length, 1);
        await talk.judge();
      });

      test('at the end; what it answers for an open stream reaches the client', async (t) => {
        const talk = Talk.withFake(t, revision);
        await talk.call('echo', { text: 'hello' });
        const stream = talk.ask('subscriptions/listen', { notifications: filter });
        await talk.notified('notifications/subscriptions/acknowledged');
        await talk.judge();
        const ended = talk.messages.find(({ id }) => id === stream);
        assert.equal(ended?.result.resultType, 'complete');
      });

      test('when the bridge keeps the stream itself, or ends it', async (t) => {
        const talk = Talk.withFake(t, revision, '--everything', '--no-listen');
        await talk.call('echo', { text: 'hello' });
        const tools = { toolsListChanged: true };
        const kept = talk.ask('subscriptions/listen', { notifications: tools });
        const { params } = await talk.notified('notifications/subscriptions/acknowledged');
        assert.equal(params._meta[`${prefix}subscriptionId`], kept);

        await talk.call('sitter_kill');
        talk.setFlags('--era', 'modern', '--everything');
        await talk.call('echo', { text: 'hello' });
        const stream = talk.ask('subscriptions/listen', { notifications: filter });
        const isIts = ({ params: p }) => p?._meta?.[`${prefix}subscriptionId`] === stream;
        await talk.find(isIts, 'the acknowledgement');
        await talk.call('sitter_kill');
        talk.setFlags('--era', 'modern', '--everything', '--listen-without', 'uris');
        await talk.call('echo', { text: 'hello' });
        const ended = await talk.notified('notifications/cancelled');
        assert.equal(ended.params.requestId, stream);
        await talk.judge();
      });

      test('when the client needs to be asked for input', async (t) => {
        const talk = Talk.withFake(t, revision);
        await talk.call('echo', { text: 'hello' });
        await talk.call('sitter_kill');
        const question = await talk.call('input_required');
        assert.equal(question.resultType, 'input_required');
        await talk.judge();
      });
    }
  });

  test(`${revision}: a message without a member that it needs is not valid`, async (t) => {
    const talk = Talk.withFake(t, revision, '--everything');
    await talk.open({ roots: {} });
    await talk.request('tools/list');
    await talk.request('prompts/list');
    await talk.request('resources/list');
    await talk.request('resources/templates/list');
    await talk.call('echo', { text: 'hello' });
    const stale = await talk.request('tools/list', { cursor: 'nobody made this' });
    await talk.judge();

    const judge = new Judge(revision);
    const expect = (message, asked, names) => {
      const found = membersNeeded(message, (copy) => judge.faultOf(copy, asked));
      for (const name of names) assert.ok(found.has(name), `${name} of ${JSON.stringify(message)}`);
    };
    const cached = isModern ? ['result.resultType', 'result.ttlMs', 'result.cacheScope'] : [];
    const by = (member) => talk.messages.find(({ result }) => result?.[member]);
    expect(by('capabilities'), isModern ? 'server/discover' : 'initialize', [
      ...['jsonrpc', 'id', 'result', 'result.capabilities', ...cached],
      ...(isModern
        ? ['result.supportedVersions']
        : ['result.protocolVersion', 'result.serverInfo.name', 'result.serverInfo.version']),
    ]);
    expect(by('tools'), 'tools/list', [
      ...['result.tools', 'result.tools.name', 'result.tools.inputSchema', ...cached],
      'result.tools.inputSchema.type',
    ]);
    expect(by('prompts'), 'prompts/list', ['result.prompts', 'result.prompts.name', ...cached]);
    expect(by('resources'), 'resources/list', [
      ...['result.resources', 'result.resources.name', 'result.resources.uri', ...cached],
    ]);
    expect(by('resourceTemplates'), 'resources/templates/list', [
      ...['result.resourceTemplates', 'result.resourceTemplates.uriTemplate', ...cached],
    ]);
    expect(by('content'), 'tools/call', [
      ...['result.content', 'result.content.type', 'result.content.text', ...cached.slice(0, 1)],
    ]);
    expect(stale, 'tools/list', [
      ...['jsonrpc', 'error.code', 'error.message'],
      ...(revision < '2025-11-25' ? ['id'] : []),
    ]);

    expect(
      talk.input[0],
      undefined,
      isModern
        ? ['params', 'params._meta', `params._meta.${prefix}protocolVersion`]
        : ['params', 'params.protocolVersion', 'params.clientInfo.name', 'params.capabilities'],
    );
    const changed = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: {} };
    assert.notEqual(judge.faultOf(changed), null);
    assert.notEqual(judge.faultOf({ jsonrpc: '2.0', method: 'notifications/nobody' }), null);
    const wrong = { jsonrpc: '2.0', id: 'r1', result: { content: 'text' } };
    assert.notEqual(judge.faultOf(wrong, 'tools/call'), null);
  });
}
