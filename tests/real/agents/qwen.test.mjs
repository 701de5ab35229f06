// Qwen Code itself, with an empty HOME, without network, and with a scripted model.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { playRebuild } from '../support/agent_story.mjs';
import { ChatApi, offline } from '../support/model_api.mjs';
import { qwen } from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';
import { runToEnd } from '../support/wire.mjs';

async function run(box, args, env = {}) {
  const { status, stdout, stderr } = await runToEnd(box, [...qwen(), ...args], {
    env: { ...offline, ...env },
  });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  return stdout;
}

async function converse(box, command, turns) {
  const api = await new ChatApi(turns).start(box);
  const settings = {
    general: { enableAutoUpdate: false },
    security: { auth: { selectedType: 'openai' } },
    privacy: { usageStatisticsEnabled: false },
  };
  mkdirSync(join(box.home, '.qwen'));
  writeFileSync(join(box.home, '.qwen', 'settings.json'), JSON.stringify(settings));
  const [program, ...words] = command;
  // Qwen Code takes the first -- for itself.
  await run(box, ['mcp', 'add', '--env', box.mark, 'dev', program, '--', ...words]);
  const said = await run(box, ['--approval-mode', 'yolo', '-m', 'a-model', '-p', 'begin'], {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: `${api.url}/v1`,
  });
  assert.equal(said, 'done');
  return api.requests;
}

test('the conversation goes on over a crash, a kill and a rebuild, with sitter_call', (t) =>
  playRebuild(new Sandbox(t), {
    converse,
    named: (tool) => `mcp__dev__${tool}`,
    listsAgain: false,
  }));
