// Codex itself, with an empty HOME, without network, and with a scripted model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Codex } from '../support/codex.mjs';
import { ResponsesApi } from '../support/model_api.mjs';
import { planOf } from '../support/plan.mjs';
import { sitting, workshop } from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';

const { resultIn, toolsOf } = ResponsesApi;

test('codex mcp add and codex mcp list: the command line is kept as it is', async (t) => {
  const box = new Sandbox(t);
  const agent = new Codex(box);

  await agent.add({ name: 'echo' });
  const [listed] = JSON.parse(await agent.run('mcp', 'list', '--json'));
  assert.equal(listed.name, 'dev');
  assert.deepEqual(
    [listed.transport.command, ...listed.transport.args],
    sitting(workshop(box.path('plan.json'))),
  );
});

const calls = (tool, input) => () => ({ tool: `mcp__dev/${tool}`, input });
const devTools = (request) => toolsOf(request).filter((name) => name.startsWith('mcp__dev/'));

test('a crash in mid-call reaches the model at once, and sitter_call a tool that Codex cannot see', async (t) => {
  const box = new Sandbox(t);
  const agent = new Codex(box);
  const stderr = ['loading the index', 'fatal: index of row 17 is out of range'];
  const echo = { name: 'echo', does: { answer: 'an echo' } };
  const fail = { name: 'fail', does: { stderr, exit: 3 } };
  const added = { name: 'added', inputSchema: { type: 'object', required: ['query'] } };

  await agent.add(echo, fail);
  const requests = await agent.converse(
    calls('fail'),
    calls('echo'),
    calls('sitter_kill'),
    () => {
      box.write('plan.json', planOf(echo, fail, added));
      return { tool: 'mcp__dev/echo' };
    },
    calls('sitter_call', { tool: 'added', arguments: {} }),
    calls('sitter_call', { tool: 'added', arguments: { query: 'milk' } }),
  );
  assert.deepEqual(
    devTools(requests[0]).sort(),
    [
      'echo',
      'fail',
      'sitter_binary_info',
      'sitter_call',
      'sitter_child_stderr',
      'sitter_kill',
      'sitter_status',
    ].map((name) => `mcp__dev/${name}`),
  );
  const [crash, restart, , rebuild, wrong, call] = requests.slice(1).map(resultIn);
  assert.match(crash, /exit(ed)?( with)?( code)? 3/);
  assert.match(crash, /fatal: index of row 17 is out of range/);
  assert.match(restart, /\[mcp-sitter\] server restarted .*⚠ crashed \(exit 3\)/);
  assert.match(restart, /an echo/);

  assert.match(rebuild, /\+1 added \(added\)/);
  assert.match(rebuild, /sitter_call \{\\?"tool\\?": \\?"added/);
  // Codex never lists the tools again.
  for (const request of requests) assert.ok(!devTools(request).includes('mcp__dev/added'));
  assert.match(wrong, /added needs the argument .*query/);
  assert.match(call, /milk/);
  await box.nothingLeft();
});
