// opencode itself, with an empty HOME, without network, and with a scripted model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playRebuild } from '../support/agent_story.mjs';
import { ChatApi, offline } from '../support/model_api.mjs';
import { opencode } from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';
import { runToEnd } from '../support/wire.mjs';

async function converse(box, command, turns) {
  const api = await new ChatApi(turns).start(box);
  const config = {
    autoupdate: false,
    share: 'disabled',
    mcp: { dev: { type: 'local', command } },
    provider: {
      'stand-in': {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${api.url}/v1`, apiKey: 'none' },
        models: { 'a-model': {} },
      },
    },
  };
  const { status, stdout, stderr } = await runToEnd(
    box,
    [...opencode(), 'run', '-m', 'stand-in/a-model', 'begin'],
    {
      env: {
        ...offline,
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
      },
    },
  );
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  assert.equal(stdout, 'done');
  return api.requests;
}

test('the conversation goes on over a crash, a kill and a rebuild, with a new tool at once', (t) =>
  playRebuild(new Sandbox(t), { converse, named: (tool) => `dev_${tool}`, listsAgain: true }));
