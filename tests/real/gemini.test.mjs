// Gemini CLI itself, with an empty HOME, without network, and with a scripted model.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { GeminiApi, offline } from './support/model_api.mjs';
import { gemini, sitting, workshop } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { runToEnd } from './support/wire.mjs';

const { resultIn, toolsOf } = GeminiApi;
const planOf = (...tools) => JSON.stringify({ tools });
const echo = { name: 'echo', does: { answer: 'an echo' } };

async function run(box, args, env = {}) {
  const answer = await runToEnd(box, [...gemini(), ...args], {
    env: { ...offline, GEMINI_CLI_TRUST_WORKSPACE: 'true', NO_COLOR: '1', ...env },
  });
  assert.equal(answer.status, 0, `${answer.stdout}\n${answer.stderr}`);
  return answer;
}

function add(box, command) {
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
  };
  mkdirSync(join(box.home, '.gemini'));
  writeFileSync(join(box.home, '.gemini', 'settings.json'), JSON.stringify(settings));
  const [program, ...words] = sitting(command);
  const options = ['--scope', 'user', '--env', box.mark];
  // Gemini CLI takes the first -- for itself.
  return run(box, ['mcp', 'add', ...options, 'dev', program, '--', ...words]);
}

async function converse(box, ...turns) {
  const api = await new GeminiApi(turns).start(box);
  const { stdout } = await run(box, ['--approval-mode', 'yolo', '-m', 'a-model', '-p', 'begin'], {
    GEMINI_API_KEY: 'none',
    GOOGLE_GEMINI_BASE_URL: api.url,
  });
  assert.equal(stdout, 'done');
  assert.equal(api.requests.length, turns.length + 1);
  await box.nothingLeft();
  return api.requests;
}

test('gemini mcp add and gemini mcp list: connected', async (t) => {
  const box = new Sandbox(t);

  await add(box, workshop(box.write('plan.json', planOf(echo))));
  const { stderr } = await run(box, ['mcp', 'list']);
  assert.match(stderr, /dev: .* \(stdio\) - Connected/);
  await box.nothingLeft();
});

test('gemini mcp list: connected although the server does not start', async (t) => {
  const box = new Sandbox(t);

  await add(box, [box.path('not built yet')]);
  const { stderr } = await run(box, ['mcp', 'list']);
  assert.match(stderr, /dev: .* \(stdio\) - Connected/);
  await box.nothingLeft();
});

test('a crash in mid-call is read by the model at once, and the next call works', async (t) => {
  const box = new Sandbox(t);
  const stderr = ['loading the index', 'fatal: index of row 17 is out of range'];
  const plan = planOf(echo, { name: 'fail', does: { stderr, exit: 3 } });

  await add(box, workshop(box.write('plan.json', plan)));
  const requests = await converse(
    box,
    () => ({ tool: 'mcp_dev_fail' }),
    () => ({ tool: 'mcp_dev_echo' }),
  );
  const crash = JSON.stringify(resultIn(requests[1]));
  assert.match(crash, /exit(ed)?( with)?( code)? 3/);
  assert.match(crash, /fatal: index of row 17 is out of range/);
  const { output } = resultIn(requests[2]);
  assert.match(output, /\[mcp-sitter\] server restarted .*⚠ crashed \(exit 3\)/);
  assert.match(output, /an echo/);
});

test('a tool that a rebuild added is offered and callable in the very next turn', async (t) => {
  const box = new Sandbox(t);
  const added = { name: 'added', does: { answer: 'just built' } };

  await add(box, workshop(box.write('plan.json', planOf(echo))));
  const requests = await converse(
    box,
    () => ({ tool: 'mcp_dev_sitter_kill' }),
    () => {
      box.write('plan.json', planOf(echo, added));
      return { tool: 'mcp_dev_echo' };
    },
    () => ({ tool: 'mcp_dev_added' }),
  );
  assert.match(resultIn(requests[2]).output, /\+1 added \(added\)/);
  assert.deepEqual(
    requests.map((request) => toolsOf(request).includes('mcp_dev_added')),
    [false, false, true, true],
  );
  assert.match(resultIn(requests[3]).output, /just built/);
});
