// Codex itself, with an empty HOME, without network, and with a scripted model.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ResponsesApi, offline } from './support/model_api.mjs';
import { codex, sitting, workshop } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { runToEnd } from './support/wire.mjs';

const { resultIn, toolsOf } = ResponsesApi;

async function run(box, ...args) {
  const { status, stdout, stderr } = await runToEnd(box, [...codex(), ...args], { env: offline });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  return stdout;
}

/** Registers the bridge in front of a server with these tools. */
function add(box, ...tools) {
  const plan = box.write('plan.json', JSON.stringify({ tools }));
  // Codex passes only the named variables on to a server.
  return run(box, 'mcp', 'add', 'dev', '--env', box.mark, '--', ...sitting(workshop(plan)));
}

test('codex mcp add and codex mcp list: the command line is kept as it is', async (t) => {
  const box = new Sandbox(t);

  await add(box, { name: 'echo' });
  const [listed] = JSON.parse(await run(box, 'mcp', 'list', '--json'));
  assert.equal(listed.name, 'dev');
  assert.deepEqual(
    [listed.transport.command, ...listed.transport.args],
    sitting(workshop(box.path('plan.json'))),
  );
});

/** Plays a whole conversation. Returns the model's side: what the model got to read. */
async function converse(box, ...turns) {
  const api = await new ResponsesApi(turns).start(box);
  appendFileSync(
    join(box.home, '.codex', 'config.toml'),
    `[model_providers.stand-in]
name = "stand-in"
base_url = "${api.url}/v1"
wire_api = "responses"
`,
  );
  const said = await run(
    box,
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    '-c',
    'model_provider="stand-in"',
    '-c',
    'model="a-model"',
    'begin',
  );
  assert.equal(said, 'done');
  return api.requests;
}

const calls = (tool, input) => () => ({ tool: `mcp__dev/${tool}`, input });
const devTools = (request) => toolsOf(request).filter((name) => name.startsWith('mcp__dev/'));

test('a crash in mid-call is read by the model at once, and the next call works', async (t) => {
  const box = new Sandbox(t);
  const stderr = ['loading the index', 'fatal: index of row 17 is out of range'];

  await add(
    box,
    { name: 'echo', does: { answer: 'an echo' } },
    { name: 'fail', does: { stderr, exit: 3 } },
  );
  const [first, second, third] = await converse(box, calls('fail'), calls('echo'));
  assert.deepEqual(
    devTools(first).sort(),
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
  assert.match(resultIn(second), /exit(ed)?( with)?( code)? 3/);
  assert.match(resultIn(second), /fatal: index of row 17 is out of range/);
  assert.match(resultIn(third), /\[mcp-sitter\] server restarted .*⚠ crashed \(exit 3\)/);
  assert.match(resultIn(third), /an echo/);
  await box.nothingLeft();
});

test('a tool that Codex cannot see is called with sitter_call', async (t) => {
  const box = new Sandbox(t);
  const echo = { name: 'echo', does: { answer: 'an echo' } };
  const added = { name: 'added', inputSchema: { type: 'object', required: ['query'] } };

  await add(box, echo);
  const requests = await converse(
    box,
    calls('sitter_kill'),
    () => {
      box.write('plan.json', JSON.stringify({ tools: [echo, added] }));
      return { tool: 'mcp__dev/echo' };
    },
    calls('sitter_call', { tool: 'added', arguments: {} }),
    calls('sitter_call', { tool: 'added', arguments: { query: 'milk' } }),
  );
  assert.match(resultIn(requests[2]), /\+1 added \(added\)/);
  assert.match(resultIn(requests[2]), /sitter_call \{\\?"tool\\?": \\?"added/);
  // Codex never lists the tools again.
  for (const request of requests) assert.ok(!devTools(request).includes('mcp__dev/added'));
  assert.match(resultIn(requests[3]), /added needs the argument .*query/);
  assert.match(resultIn(requests[4]), /milk/);
  await box.nothingLeft();
});
