// A command-line tool as the server, in front of the official clients and of Claude Code.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Claude } from './support/claude.mjs';
import { MessagesApi } from './support/model_api.mjs';
import { sitterPath } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Session, textOf } from './support/session.mjs';
import { SessionInPlace } from './support/session_v2.mjs';
import { runToEnd } from './support/wire.mjs';

const { resultIn, toolsOf } = MessagesApi;

const integer = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const commands = {
  say: { does: 'printf "%s" "$2"', words: ['--', '{text}'] },
  count: { does: 'printf \'{"n": %s}\' "${#2}"', words: ['--', '{text}'], outputSchema: integer },
  lie: { does: 'echo \'{"n": "many"}\'', outputSchema: integer },
  fail: { does: 'echo "the disk is full" >&2; exit 3' },
  added: { does: 'echo just written' },
};

/** Writes a tool with these commands. Returns the command line that serves it. */
function toolWith(box, ...names) {
  const tools = names.map((name) => {
    const { words = [], outputSchema } = commands[name];
    const parameters = { type: 'object', properties: { text: { type: 'string' } } };
    return { name, parameters, outputSchema, cli_command: [name, ...words] };
  });
  const cases = names.map((name) => `${name}) shift; ${commands[name].does} ;;`);
  const script = [
    '#!/bin/sh',
    'case $1 in',
    `schema) cat <<'JSON'\n${JSON.stringify({ tools })}\nJSON\n;;`,
    ...cases,
    'esac',
  ].join('\n');
  return [sitterPath(), '--cli', box.write('tool.sh', script, 0o755)];
}

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
