// What the official client refuses, the lint names; what it takes, the lint does not. And what the lint leaves out, no
// client misses.
import * as second from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { keptPath, keptRevisions, keptText, publishedSchemas } from './support/published.mjs';
import { sitterPath, sitting, testsDir } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Session } from './support/session.mjs';
import { runToEnd, Wire } from './support/wire.mjs';
import { mutations, outputSchemas, right, structured } from './support/wrong_messages.mjs';

const opening = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, prompts: {}, resources: {} },
  serverInfo: { name: 'n', version: '1' },
};

const revision = '2026-07-28';
/** What a result of the stateless revision has beside its own members. */
const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const discovery = { ...complete, supportedVersions: [revision], capabilities: opening.capabilities };

/** Each era with an official client of it. */
const eras = {
  session: {
    around: {},
    connect: () => [new Client({ name: 'c', version: '1' }), ...InMemoryTransport.createLinkedPair()],
  },
  [revision]: {
    around: complete,
    connect: () => [
      new second.Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: { pin: revision } } }),
      ...second.InMemoryTransport.createLinkedPair(),
    ],
  },
};

/** Whether the official client, alone with a server that answers so, can do this. */
async function isTaken(answers, act = async () => {}, era = 'session') {
  const [client, near, far] = eras[era].connect();
  const known = { initialize: opening, 'server/discover': discovery, ...answers };
  far.onmessage = ({ id, method }) => {
    if (id !== undefined) far.send({ jsonrpc: '2.0', id, result: known[method] });
  };
  await far.start();
  try {
    await client.connect(near);
    await act(client);
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

const rawServer = (box, plan) => [
  process.execPath,
  join(testsDir, 'support/raw_server.mjs'),
  box.write('plan.json', JSON.stringify(plan)),
];

/** The findings of the lint about a server with this plan, after these tools were called. */
async function findings(t, plan, { tools = [], method, era = 'session' } = {}) {
  const box = new Sandbox(t);
  const wire = new Wire(box, sitting(rawServer(box, plan)));
  const isModern = era === revision;
  const prefix = 'io.modelcontextprotocol/';
  const _meta = {
    [`${prefix}protocolVersion`]: revision,
    [`${prefix}clientInfo`]: { name: 'c', version: '1' },
    [`${prefix}clientCapabilities`]: {},
  };
  const ask = (id, asked, params = {}) => wire.request(id, asked, isModern ? { ...params, _meta } : params);
  if (!isModern) await wire.open();
  if (method) await ask('list', method);
  for (const name of ['none', ...tools]) await ask(`call ${name}`, 'tools/call', { name, arguments: {} });
  const answer = await ask('status', 'tools/call', { name: 'sitter_status', arguments: {} });
  assert.equal(await wire.end(), 0);
  return JSON.parse(answer.result.content.at(-1).text).lint ?? [];
}

/** The lint tells at most 100 findings of a kind. */
function* groups(cases, size = 90) {
  for (let from = 0; from < cases.length; from += size) yield cases.slice(from, from + size);
}

/** Asserts that the lint has a finding about exactly those of the cases that the client refuses. */
function compare(cases, found, subject) {
  const wrong = cases.filter(({ taken }, i) => taken === found.some((line) => line.startsWith(subject(i))));
  assert.deepEqual(
    wrong.map(({ what, taken }) => `${what} is ${taken ? 'taken' : 'refused'} by the client`),
    [],
    found.join('\n'),
  );
}

test('the program has the published schemas', () => {
  const schemas = publishedSchemas();
  for (const revision of keptRevisions) {
    assert.equal(readFileSync(keptPath(revision), 'utf8'), keptText(schemas[revision], revision));
  }
});

const kinds = [
  ['tool', 'tools/list', 'tools', 'listTools', 'name'],
  ['prompt', 'prompts/list', 'prompts', 'listPrompts', 'name'],
  ['resource', 'resources/list', 'resources', 'listResources', 'uri'],
  ['template', 'resources/templates/list', 'resourceTemplates', 'listResourceTemplates', 'name'],
];

describe('an item of a list that is wrong in one place', () => {
  for (const [kind, method, key, list, name, era] of Object.keys(eras).flatMap((era) =>
    kinds.map((row) => [...row, era]),
  )) {
    const { around } = eras[era];
    test(`${kind}, ${era}`, async (t) => {
      const cases = [];
      // The second client refuses only the calls of a tool whose output schema it cannot use.
      const schemas = kind === 'tool' && era === 'session' ? outputSchemas : [];
      for (const [what, item] of [
        ...mutations(right[kind]),
        ...schemas.map((outputSchema) => [JSON.stringify(outputSchema), { ...right.tool, outputSchema }]),
      ]) {
        if (era !== 'session' && what.startsWith('outputSchema.')) continue;
        const taken = await isTaken({ [method]: { ...around, [key]: [item] } }, (client) => client[list](), era);
        // A case is known by its name.
        if (typeof item[name] === 'string') cases.push({ what, item, taken });
      }
      assert.ok(cases.filter(({ taken }) => !taken).length > 50);
      for (const group of groups(cases)) {
        const items = group.map(({ item }, i) => ({ ...item, [name]: `case-${i}` }));
        const methods = { 'server/discover': discovery, [method]: { ...around, [key]: items } };
        const found = await findings(t, { methods }, { method, era });
        const word = kind === 'template' ? 'resource template' : kind;
        compare(group, found, (i) => `${word} "case-${i}": `);
      }
    });
  }
});

test('a result of a call that is wrong in one place', async (t) => {
  const plain = { name: 't', inputSchema: { type: 'object' } };
  const cases = [];
  const add = async (what, tool, result) => {
    const answers = { 'tools/list': { tools: [tool] }, 'tools/call': result };
    const taken = await isTaken(answers, async (client) => {
      await client.listTools();
      await client.callTool({ name: 't' });
    });
    cases.push({ what, tool, result, taken });
  };
  for (const [what, result] of mutations(right.result)) await add(what, plain, result);
  for (const [outputSchema, structuredContent] of structured) {
    const what = JSON.stringify([outputSchema, structuredContent]);
    await add(what, { ...plain, outputSchema }, { content: [], structuredContent });
  }
  for (const group of groups(cases)) {
    const tools = group.map(({ tool }, i) => ({ ...tool, name: `case-${i}` }));
    const calls = Object.fromEntries(group.map(({ result }, i) => [`case-${i}`, result]));
    const plan = { methods: { 'tools/list': { tools } }, calls };
    const found = await findings(t, plan, { tools: Object.keys(calls) });
    compare(group, found, (i) => `tool "case-${i}": `);
  }
});

test('an opening that clients refuse opens the bridge, which says why', async (t) => {
  const places = ['serverInfo', 'serverInfo.version', 'capabilities.tools', 'capabilities.logging', 'instructions'];
  places.push('capabilities.extensions', 'capabilities.extensions.a', 'protocolVersion');
  const box = new Sandbox(t);
  for (const [what, initialize] of mutations(right.opening)) {
    // Each case is a process, so only some are played.
    if (!places.some((place) => what.startsWith(`${place} = `))) continue;
    const taken = await isTaken({ initialize });
    const wire = new Wire(box, sitting(rawServer(box, { methods: { initialize } })));
    const { instructions } = await wire.open();
    const isNull = what.endsWith('= null') && what.startsWith('instructions');
    const isRefused = /clients refuse its answer/.test(instructions);
    assert.equal(isRefused, !taken && !isNull, `${what}: ${instructions}`);
    await wire.end();
  }
});

describe('one bad item does not cost the list', () => {
  const good = { name: 'good', inputSchema: { type: 'object' } };
  const lists = {
    'tools/list': {
      tools: [
        { name: 'null', title: null, inputSchema: { type: 'object', required: null }, annotations: null },
        { name: 'gone', inputSchema: { type: 'string' } },
        { ...good, name: 'output', outputSchema: { type: 'object', properties: { a: { type: 'int' } } } },
        good,
      ],
      nextCursor: null,
    },
    'prompts/list': { prompts: [{ name: 'p', description: null }, { name: 7 }], nextCursor: null },
  };
  const plan = { methods: lists, calls: { good: { content: [] } } };

  test('the official client gets the rest, and the next result says what is missing', async (t) => {
    const box = new Sandbox(t);
    assert.equal(await isTaken(lists, (client) => client.listTools()), false);
    const session = await Session.open(box, sitting(rawServer(box, plan)));
    const names = (await session.toolNames()).filter((name) => !name.startsWith('sitter_'));
    assert.deepEqual(names, ['null', 'output', 'good']);
    assert.deepEqual((await session.client.listPrompts()).prompts, [{ name: 'p' }]);
    const { content } = await session.call('good');
    assert.match(content[0].text, /tool "gone": inputSchema.type .* mcp-sitter leaves the tool out/);
    const { lint } = await session.status();
    assert.ok(lint.some((line) => line.includes('tool "null": annotations, inputSchema.required, title are null')));
    assert.ok(lint.some((line) => line.includes('tool "output": outputSchema has the type "int"')));
    assert.ok(lint.some((line) => line.includes('tools/list: nextCursor')));
  });

  test('with --no-lint the bytes pass as they are', async (t) => {
    const box = new Sandbox(t);
    const wire = new Wire(box, sitting(rawServer(box, plan), '--no-lint'));
    await wire.open();
    wire.send({ jsonrpc: '2.0', id: 'list', method: 'prompts/list', params: {} });
    assert.equal(
      await wire.answer('list'),
      JSON.stringify({ jsonrpc: '2.0', id: 'list', result: lists['prompts/list'] }),
    );
    const { result } = await wire.request('tools', 'tools/list');
    assert.deepEqual(result.tools.slice(0, 4), lists['tools/list'].tools);
    assert.equal(result.nextCursor, null);
    await wire.end();
  });

  test('doctor ends with 1', async (t) => {
    const box = new Sandbox(t);
    const words = [sitterPath(), 'doctor', '--no-environment', '--'];
    const { status, stdout } = await runToEnd(box, [...words, ...rawServer(box, plan)]);
    assert.equal(status, 1, stdout);
    assert.match(stdout, /problem tool "gone"/);
    assert.match(stdout, /prompt number 2: name/);
  });
});

describe('doctor ends with 1 for a call', () => {
  const readOnly = { name: 't', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
  const doctor = async (t, plan) => {
    const box = new Sandbox(t);
    const words = [sitterPath(), 'doctor', '--no-environment', '--'];
    return runToEnd(box, [...words, ...rawServer(box, { methods: { 'tools/list': { tools: [readOnly] } }, ...plan })]);
  };

  for (const [what, result, words] of [
    ['whose result is refused', { content: [{ text: 'a' }] }, /content\[0\] has no member/],
    ['whose result is no object', 'text', /its result is a string/],
  ]) {
    test(what, async (t) => {
      const { status, stdout } = await doctor(t, { calls: { t: result } });
      assert.equal(status, 1, stdout);
      assert.match(stdout, words);
    });
  }

  test('during which the server says what is refused', async (t) => {
    const says = [{ method: 'notifications/message', params: { level: 'loud', data: 1 } }];
    const { status, stdout } = await doctor(t, { calls: { t: { content: [] } }, says });
    assert.equal(status, 1, stdout);
    assert.match(stdout, /notifications\/message: params.level is none of the allowed values/);
  });

  test('but not if all is right', async (t) => {
    const { status, stdout } = await doctor(t, { calls: { t: { content: [] } } });
    assert.equal(status, 0, stdout);
  });
});
