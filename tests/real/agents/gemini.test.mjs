// Gemini CLI itself, with an empty HOME, without network, and with a scripted model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gemini } from '../support/gemini.mjs';
import { GeminiApi } from '../support/model_api.mjs';
import { planOf } from '../support/plan.mjs';
import { Sandbox } from '../support/sandbox.mjs';

const { resultIn, toolsOf } = GeminiApi;
const echo = { name: 'echo', does: { answer: 'an echo' } };

test('gemini mcp add and gemini mcp list: connected, also if the server does not start', async (t) => {
  const agent = new Gemini(new Sandbox(t));

  await agent.register([agent.box.path('not built yet')], 'absent');
  await agent.add(echo);
  const { stderr } = await agent.run(['mcp', 'list']);
  for (const name of ['absent', 'dev']) {
    assert.match(stderr, new RegExp(`${name}: .* \\(stdio\\) - Connected`));
  }
  await agent.box.nothingLeft();
});

test('a crash in mid-call is read at once, and a tool that a rebuild added is callable in the next turn', async (t) => {
  const agent = new Gemini(new Sandbox(t));
  const stderr = ['loading the index', 'fatal: index of row 17 is out of range'];
  const fail = { name: 'fail', does: { stderr, exit: 3 } };
  const added = { name: 'added', does: { answer: 'just built' } };

  await agent.add(echo, fail);
  const requests = await agent.converse(
    () => ({ tool: 'mcp_dev_fail' }),
    () => ({ tool: 'mcp_dev_echo' }),
    () => ({ tool: 'mcp_dev_sitter_kill' }),
    () => {
      agent.box.write('plan.json', planOf(echo, fail, added));
      return { tool: 'mcp_dev_echo' };
    },
    () => ({ tool: 'mcp_dev_added' }),
  );
  const crash = JSON.stringify(resultIn(requests[1]));
  assert.match(crash, /exit(ed)?( with)?( code)? 3/);
  assert.match(crash, /fatal: index of row 17 is out of range/);
  const { output } = resultIn(requests[2]);
  assert.match(output, /\[mcp-sitter\] server restarted .*⚠ crashed \(exit 3\)/);
  assert.match(output, /an echo/);

  assert.match(resultIn(requests[4]).output, /\+1 added \(added\)/);
  assert.deepEqual(
    requests.map((request) => toolsOf(request).includes('mcp_dev_added')),
    [false, false, false, false, true, true],
  );
  assert.match(resultIn(requests[5]).output, /just built/);
});
