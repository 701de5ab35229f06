// Claude Code itself, with an empty HOME, without network, and with a scripted model.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { Claude } from '../support/claude.mjs';
import { textOf } from '../support/documents.mjs';
import { MessagesApi } from '../support/model_api.mjs';
import { planOf } from '../support/plan.mjs';
import { claude, sitterPath, sitting, workshop } from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';
import { until } from '../support/waiting.mjs';
import { runToEnd, Wire } from '../support/wire.mjs';

const { resultIn, toolsOf } = MessagesApi;
const echo = { name: 'echo', does: { answer: 'an echo' } };

const calls = (tool, input) => () => ({ tool, input });

/** The index of the first request to the model that offers this tool of the server. */
const firstOffer = (requests, tool) =>
  requests.findIndex((request) => toolsOf(request).includes(`mcp__dev__${tool}`));

test('claude mcp add and claude mcp list: connected, also if the server does not start', async (t) => {
  const agent = new Claude(new Sandbox(t));

  await agent.add(echo);
  await agent.run('mcp', 'add', 'absent', '--', ...sitting([agent.box.path('not built yet')]));
  const list = await agent.run('mcp', 'list');
  for (const name of ['dev', 'absent']) {
    assert.match(list, new RegExp(`^${name}: .* - ✔ Connected$`, 'm'));
  }
  await agent.box.nothingLeft();
});

test('a tool of the next server is callable in the very next turn, and a crash is read at once', async (t) => {
  const agent = new Claude(new Sandbox(t));
  agent.env.ENABLE_TOOL_SEARCH = 'false';
  const stderr = ['loading the index', 'fatal: index of row 17 is out of range'];
  const fail = { name: 'fail', does: { stderr, exit: 3 } };
  const added = { name: 'added', does: { answer: 'just built' } };

  await agent.add(echo, fail);
  const requests = await agent.converse(
    calls('mcp__dev__sitter_kill'),
    () => {
      agent.box.write('plan.json', planOf(echo, fail, added));
      return { tool: 'mcp__dev__echo' };
    },
    calls('mcp__dev__added'),
    calls('mcp__dev__fail'),
    calls('mcp__dev__sitter_child_stderr', { lines: 5 }),
    calls('mcp__dev__echo'),
  );
  assert.equal(firstOffer(requests, 'added'), 2);
  const [, restart, first, crash, words, again] = requests.slice(1).map(resultIn);

  assert.match(restart.text, /^\[mcp-sitter\] server restarted \(spawn #2, /);
  assert.match(restart.text, /previous: killed by sitter_kill after .*\+1 added \(added\)/);
  assert.match(restart.text, /an echo$/);
  assert.deepEqual(first, { isError: false, text: 'just built' });

  assert.equal(crash.isError, true);
  assert.match(crash.text, /exit(ed)?( with)?( code)? 3/);
  assert.match(crash.text, /fatal: index of row 17 is out of range/);
  assert.match(words.text, /loading the index/);
  assert.match(again.text, /^\[mcp-sitter\] server restarted .*⚠ crashed \(exit 3\)/);
  assert.match(again.text, /an echo$/);
});

// A conversation of its own: Claude Code reads the tools at most once a second.
test('a tool that sitter_rebuild has built is callable in the very next turn', async (t) => {
  const agent = new Claude(new Sandbox(t));
  agent.env.ENABLE_TOOL_SEARCH = 'false';
  const added = { name: 'added', does: { answer: 'just built' } };
  const plan = agent.box.write('plan.json', planOf(echo));
  const build = ['--build', 'cp next.json plan.json', '--build-cwd', agent.box.dir];

  await agent.register(sitting(workshop(plan), ...build));
  const requests = await agent.converse(() => {
    agent.box.write('next.json', planOf(echo, added));
    return { tool: 'mcp__dev__sitter_rebuild' };
  }, calls('mcp__dev__added'));
  assert.equal(firstOffer(requests, 'added'), 1);
  const [rebuilt, first] = requests.slice(1).map(resultIn);
  assert.match(rebuilt.text, /^\[mcp-sitter\] the build succeeded after [^]*\+1 added \(added\)/);
  assert.equal(rebuilt.isError, false);
  assert.deepEqual(first, { isError: false, text: 'just built' });
});

test('a tool that a rebuild added is found by tool search in the very next turn', async (t) => {
  const agent = new Claude(new Sandbox(t));
  const added = { name: 'added', does: { answer: 'just built' } };
  const search = (...names) =>
    calls('ToolSearch', { query: `select:${names.map((name) => `mcp__dev__${name}`)}` });

  await agent.add(echo);
  const requests = await agent.converse(
    search('sitter_kill', 'echo'),
    calls('mcp__dev__sitter_kill'),
    () => {
      agent.box.write('plan.json', planOf(echo, added));
      return { tool: 'mcp__dev__echo' };
    },
    search('added'),
    calls('mcp__dev__added'),
  );
  assert.match(resultIn(requests[3]).text, /\+1 added \(added\)/);
  assert.deepEqual(resultIn(requests[5]), { isError: false, text: 'just built' });
});

test('setup --always-load keeps the tools of the server in front of the model', async (t) => {
  const agent = new Claude(new Sandbox(t));
  await agent.add(echo);
  const words = [sitterPath(), 'setup', 'claude', '--wrap', 'dev', '--always-load'];
  const { status, stderr } = await runToEnd(agent.box, words);
  assert.equal(status, 0, stderr);
  const requests = await agent.converse(calls('mcp__dev__echo'));
  assert.equal(firstOffer(requests, 'echo'), 0);
});

test('a server that was not built yet can be built in the conversation', async (t) => {
  const agent = new Claude(new Sandbox(t));
  agent.env.ENABLE_TOOL_SEARCH = 'false';
  const { box } = agent;
  const words = workshop(box.path('plan.json')).map((word) => `'${word}'`);

  await agent.register(sitting([box.path('server')]));
  const requests = await agent.converse(calls('mcp__dev__sitter_status'), () => {
    box.write('plan.json', planOf(echo));
    box.write('server', `#!/bin/sh\nexec ${words.join(' ')}\n`, 0o755);
    return { tool: 'mcp__dev__sitter_binary_info' };
  });
  assert.match(JSON.parse(resultIn(requests[1]).text).lastFailure.what, /no such file/i);
  assert.equal(JSON.parse(resultIn(requests[2]).text).exists, true);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL']) {
  test(`ended by ${signal} in mid-call, nothing is left`, async (t) => {
    const agent = new Claude(new Sandbox(t));
    const { box } = agent;
    agent.env.ENABLE_TOOL_SEARCH = 'false';

    await agent.add({ name: 'stall', does: { waits: true } });
    const { args } = await agent.begin(calls('mcp__dev__stall'));
    const wire = new Wire(box, [...claude(), ...args], { env: agent.env });
    wire.process.stdin.end();
    await until(
      () => existsSync(box.path('plan.json.calls')),
      () => 'the call',
    );
    wire.process.kill(signal);
    await wire.exit();
    await box.nothingLeft();
  });
}

test('permissions allow the tools of mcp-sitter and no others', async (t) => {
  const agent = new Claude(new Sandbox(t));
  mkdirSync(agent.box.path('home/.claude'));
  // As docs/clients.md shows it.
  const [settings] = textOf('docs/clients.md').match(/\{ "permissions".*/);
  agent.box.write('home/.claude/settings.json', settings);

  await agent.add(echo);
  const { api } = await agent.begin(calls('mcp__dev__sitter_status'), calls('mcp__dev__echo'));
  assert.equal(await agent.run('-p', 'begin'), 'done');
  assert.match(resultIn(api.requests[1]).text, /childState/);
  assert.deepEqual(
    [resultIn(api.requests[2]).isError, /an echo/.test(resultIn(api.requests[2]).text)],
    [true, false],
  );
  await agent.box.nothingLeft();
});
