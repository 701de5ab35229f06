// Cline itself, with an empty HOME, without network, and with a scripted model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRebuild } from '../support/agent_story.mjs';
import { ChatApi, offline } from '../support/model_api.mjs';
import { cline } from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';
import { runToEnd } from '../support/wire.mjs';

async function run(box, ...args) {
  const { status, stdout, stderr } = await runToEnd(box, [...cline(), ...args], {
    // Without this setting, the session runs in a daemon that outlives Cline.
    env: { ...offline, CLINE_SESSION_BACKEND_MODE: 'local' },
  });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
}

async function converse(box, command, turns) {
  const api = await new ChatApi(turns).start(box);
  const provider = ['-p', 'openai-compatible', '-k', 'none', '-m', 'a-model'];
  await run(box, 'auth', ...provider, '-b', `${api.url}/v1`);
  // Cline does not pass its environment on to a server, and "mcp add" has no option for variables.
  await run(box, 'mcp', 'add', '--yes', 'dev', '--', 'env', box.mark, ...command);
  // Cline would take a single word for a command.
  await run(box, 'begin now');
  return api.requests;
}

test('the conversation goes on over a crash, a kill and a rebuild, with sitter_call', (t) =>
  playRebuild(new Sandbox(t), { converse, named: (tool) => `dev__${tool}`, listsAgain: false }));
