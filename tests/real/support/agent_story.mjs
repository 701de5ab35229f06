// The story that every agent has to play. It is one conversation, because an agent takes seconds to
// start.
import assert from 'node:assert/strict';
import { ChatApi } from './model_api.mjs';
import { sitting, workshop } from './programs.mjs';

const { resultIn } = ChatApi;

const echo = { name: 'echo', does: { answer: 'an echo' } };
const louder = {
  ...echo,
  inputSchema: { type: 'object', properties: { loud: { type: 'boolean' } } },
};
const fail = {
  name: 'fail',
  does: { stderr: ['loading the index', 'fatal: index of row 17 is out of range'], exit: 3 },
};
const added = { name: 'added', does: { answer: 'just built' } };

/**
 * A server crashes, is killed, and comes back with a changed tool and a new tool, which the model
 * calls. `converse(box, command, turns)` plays the turns in a conversation with the server of this
 * command, and returns the requests to the model. `named` returns the agent's name for a tool of
 * that server. An agent with `listsAgain` shows the new tool in its next turn; any other agent
 * needs sitter_call.
 */
export async function playRebuild(box, { converse, named, listsAgain }) {
  const plan = (...tools) => box.write('plan.json', JSON.stringify({ tools }));
  // The machine may be busy when the server starts.
  const command = sitting(workshop(plan(echo, fail)), '--answer-within', '60');
  const requests = await converse(box, command, [
    () => ({ tool: named('fail') }),
    () => ({ tool: named('echo') }),
    () => ({ tool: named('sitter_kill') }),
    () => {
      plan(louder, added);
      return { tool: named('echo') };
    },
    () =>
      listsAgain
        ? { tool: named('added') }
        : { tool: named('sitter_call'), input: { tool: 'added', arguments: {} } },
  ]);
  assert.equal(requests.length, 6);
  const [crash, restart, , rebuild, call] = requests.slice(1).map(resultIn);

  assert.match(crash, /crashed \(exit 3\).*fatal: index of row 17 is out of range/s);
  assert.match(restart, /\[mcp-sitter\] server restarted .*⚠ crashed \(exit 3\).*an echo/s);
  assert.match(rebuild, /\[mcp-sitter\] server restarted .*killed by sitter_kill/);
  assert.match(rebuild, /\+1 added \(added\).*1 schema changed \(echo\)/);
  assert.match(rebuild, /echo: \+loud \(boolean, optional\).*an echo/s);
  if (!listsAgain) assert.match(rebuild, /sitter_call/);
  assert.match(call, /just built/);

  const shown = requests.map((request) => JSON.stringify(request).includes(named('added')));
  assert.deepEqual(shown, [false, false, false, false, listsAgain, listsAgain]);
  await box.nothingLeft();
}
