// Agents that use the installed command: a kill, and a call that finds the server started again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Claude } from '../real/support/claude.mjs';
import { Codex } from '../real/support/codex.mjs';
import { Gemini } from '../real/support/gemini.mjs';
import { Sandbox } from '../real/support/sandbox.mjs';
import { Newcomer } from './newcomer.mjs';
import { packed } from './places.mjs';
import { Registry } from './registry.mjs';

const echo = { name: 'echo', does: { answer: 'an echo' } };

// Each agent, and its name for a tool of the server.
const agents = [
  [Claude, (tool) => `mcp__dev__${tool}`],
  [Codex, (tool) => `mcp__dev/${tool}`],
  [Gemini, (tool) => `mcp_dev_${tool}`],
];

const registry = await Registry.start(packed);
after(() => registry.close());
const user = new Newcomer({ after }, registry);

before(async () => {
  await user.run('npm install -g mcp-sitter-native');
  process.env.MCP_SITTER = user.path('prefix/bin/mcp-sitter');
});

for (const [Agent, named] of agents) {
  test(Agent.name, async (t) => {
    const agent = new Agent(new Sandbox(t));
    // Claude Code would look for the tools first.
    agent.env = { ...agent.env, ENABLE_TOOL_SEARCH: 'false' };
    await agent.add(echo);
    const requests = await agent.converse(
      () => ({ tool: named('sitter_kill') }),
      () => ({ tool: named('echo') }),
    );
    const [, killed, called] = requests.map((request) => JSON.stringify(request));
    assert.doesNotMatch(killed, /server restarted/);
    assert.match(called, /\[mcp-sitter\] server restarted \(spawn #2, [^]*killed by sitter_kill[^]*an echo/);
    await agent.box.nothingLeft();
  });
}
