// Claude Code itself in front of servers that are no process on pipes: a daemon over HTTP that is restarted, and a
// command-line tool.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Claude } from '../support/claude.mjs';
import { Daemon, bridged, sdk1 } from '../support/daemon.mjs';
import { MessagesApi } from '../support/model_api.mjs';
import { planOf } from '../support/plan.mjs';
import { sitterPath } from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';
import { toolWith } from '../support/tool.mjs';
import { runToEnd } from '../support/wire.mjs';

const { resultIn, toolsOf } = MessagesApi;
const echo = { name: 'echo', does: { answer: 'an echo' } };
const stall = { name: 'stall', does: { waits: true } };
const added = { name: 'added', does: { answer: 'just built' } };

test('a daemon is restarted twice, and its new tool is callable in the next turn', async (t) => {
  const agent = new Claude(new Sandbox(t));
  agent.env.ENABLE_TOOL_SEARCH = 'false';
  const plan = agent.box.write('plan.json', planOf(echo, stall));
  const daemon = await Daemon.start(agent.box, sdk1(plan, 'sessions'));

  await agent.register(bridged(daemon.url));
  assert.match(await agent.run('mcp', 'list'), /^dev: .* - ✔ Connected$/m);
  const requests = await agent.converse(
    () => ({ tool: 'mcp__dev__echo' }),
    async () => {
      agent.box.write('plan.json', planOf(echo, stall, added));
      await daemon.restart();
      return { tool: 'mcp__dev__echo' };
    },
    () => {
      const from = daemon.stderr.items.length;
      daemon.stderr
        .find((line) => line === 'stall waits', 'the call', from)
        .then(() => daemon.restart());
      return { tool: 'mcp__dev__stall' };
    },
    () => ({ tool: 'mcp__dev__added' }),
  );
  const [first, second, lost, last] = requests.slice(1).map(resultIn);
  assert.deepEqual(first, { isError: false, text: 'an echo' });
  assert.ok(!toolsOf(requests[1]).includes('mcp__dev__added'));
  assert.match(second.text, /^\[mcp-sitter\] server restarted .*previous: connection lost/);
  assert.match(second.text, /tools: \+1 added \(added\)[^]*\nan echo$/);
  assert.ok(toolsOf(requests[2]).includes('mcp__dev__added'));
  assert.equal(lost.isError, true);
  assert.match(lost.text, /the answer of the server was lost: .* may or may not have taken/);
  assert.match(last.text, /^\[mcp-sitter\] server restarted [^]*\njust built$/);
});

test('Claude Code calls a command that was added in the turn before', async (t) => {
  const agent = new Claude(new Sandbox(t));
  agent.env.ENABLE_TOOL_SEARCH = 'false';
  await agent.register(toolWith(agent.box, 'say'));
  assert.match(await agent.run('mcp', 'list'), /^dev: .* - ✔ Connected$/m);
  const requests = await agent.converse(
    () => ({ tool: 'mcp__dev__say', input: { text: 'milk' } }),
    async () => {
      toolWith(agent.box, 'say', 'added');
      await runToEnd(agent.box, [sitterPath(), 'ctl', 'reload']);
      return { tool: 'mcp__dev__say', input: { text: 'bread' } };
    },
    () => ({ tool: 'mcp__dev__added' }),
  );
  const [first, second, last] = requests.slice(1).map(resultIn);
  assert.deepEqual(first, { isError: false, text: 'milk' });
  assert.ok(!toolsOf(requests[1]).includes('mcp__dev__added'));
  assert.ok(toolsOf(requests[2]).includes('mcp__dev__added'));
  assert.match(second.text, /^\[mcp-sitter\] tools read again .*\+1 added \(added\)[^]*\nbread$/);
  assert.deepEqual(last, { isError: false, text: 'just written\n' });
});
