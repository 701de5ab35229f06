// The command line of the official inspector.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  inspector,
  ownFakeMcp,
  rebuilding,
  server,
  sitting,
  workshop,
  workshopV2,
} from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';
import { textOf } from '../support/session.mjs';
import { runToEnd } from '../support/wire.mjs';

const sitterTools = ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'];

const revision = '2026-07-28';
const changed = 'notifications/tools/list_changed';

const namesOf = ({ tools }) => tools.map(({ name }) => name);

// The inspector's exit code for a result that is an error. The result is printed nevertheless.
const toolIsError = 5;

/** The result that the inspector prints with the bridge. The inspector has to exit with `exitCode`. */
async function printed(box, [command, ...words], exitCode, era, method, ...args) {
  const config = box.write(
    'mcp.json',
    // The inspector passes only the named variables on to a server.
    JSON.stringify({ mcpServers: { dev: { command, args: words, env: box.env } } }),
  );
  const { status, stdout, stderr } = await runToEnd(
    box,
    [
      ...inspector(),
      ...['--cli', '--config', config, '--server', 'dev', '--protocol-era', era],
      ...['--method', method, ...args],
    ],
    { env: { MCP_INSPECTOR_SECRET_STORE: 'memory' } },
  );
  assert.equal(status, exitCode, `${stdout}\n${stderr}`);
  await box.nothingLeft();
  return JSON.parse(stdout);
}

/** Runs the inspector with the bridge and the server. `serverOf` gets the sandbox. */
function inspect(t, serverOf, era, method, ...args) {
  const box = new Sandbox(t);
  return printed(box, sitting(serverOf(box)), 0, era, method, ...args);
}

const everything = () => server('everything');

describe('mcp-inspector --cli --protocol-era legacy', () => {
  test('tools/list: the tools of the server, then the built-in ones', async (t) => {
    const names = namesOf(await inspect(t, everything, 'legacy', 'tools/list'));
    assert.ok(names.includes('echo'));
    assert.deepEqual(names.slice(-4), sitterTools);
  });

  test('resources/list', async (t) => {
    const { resources } = await inspect(t, everything, 'legacy', 'resources/list');
    assert.ok(resources.some(({ uri }) => uri.startsWith('demo://')));
  });
});

// With 'auto' the inspector asks server/discover first, and falls back to initialize in the same
// process.
describe('mcp-inspector --cli --protocol-era auto', () => {
  test('tools/call: of the server', async (t) => {
    const args = ['--tool-name', 'echo', '--tool-arg', 'message=hello'];
    const result = await inspect(t, everything, 'auto', 'tools/call', ...args);
    assert.deepEqual(result, { content: [{ type: 'text', text: 'Echo: hello' }] });
  });

  test('tools/call: a built-in one', async (t) => {
    const result = await inspect(t, everything, 'auto', 'tools/call', '--tool-name', 'sitter_status');
    const status = JSON.parse(result.content[0].text);
    assert.equal(status.childCommand, process.execPath);
    assert.equal(status.childAlive, true);
    assert.equal(status.protocolEra, 'legacy');
  });

  test('prompts/list', async (t) => {
    const { prompts } = await inspect(t, everything, 'auto', 'prompts/list');
    assert.ok(prompts.some(({ name }) => name === 'simple-prompt'));
  });
});

const before = [
  { name: 'echo', inputSchema: { type: 'object' } },
  { name: 'crash', inputSchema: { type: 'object' } },
];
const after = [
  { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
  { name: 'crash', inputSchema: { type: 'object' } },
  { name: 'added', inputSchema: { type: 'object' } },
];
const listed = [...namesOf({ tools: before }), ...sitterTools];

// The tools of a server come from a file. `fileOf` makes its text, and `commandOf` the command that
// starts the server with the file.
const onSdk = (commandOf) => {
  const does = {
    echo: { answer: 'hello' },
    crash: { stderr: ['last words'], signal: 'SIGKILL' },
  };
  const fileOf = (tools) =>
    JSON.stringify({ tools: tools.map((tool) => ({ ...tool, does: does[tool.name] })) });
  return { fileOf, commandOf: (box, file) => commandOf(file), crash: 'SIGKILL' };
};
const fake = (...flags) => ({
  fileOf: JSON.stringify,
  commandOf(box, file) {
    return [ownFakeMcp(box), ...flags, '--tools', file];
  },
  crash: 'exit 3',
});

// What else the inspector does is tested in each era with one server. The other ones have the same tests with a client,
// in ../v2.test.mjs.
const fullyTested = 'a server on the second official SDK';

// Which era results from each server and each choice of the inspector.
for (const [serverName, { fileOf, commandOf, crash }, eras] of [
  [
    fullyTested,
    onSdk(workshopV2),
    { legacy: 'legacy', auto: 'modern', modern: 'modern' },
  ],
  ['a server on the first official SDK', onSdk(workshop), { legacy: 'legacy', auto: 'legacy' }],
  [
    'fake-mcp --era dual',
    fake('--era', 'dual'),
    { legacy: 'legacy', auto: 'modern', modern: 'modern' },
  ],
  ['fake-mcp --era modern', fake('--era', 'modern'), { auto: 'modern', modern: 'modern' }],
  ['fake-mcp --era legacy', fake('--era', 'legacy'), { legacy: 'legacy', auto: 'legacy' }],
  ['fake-mcp that exits when probed', fake('--exit-on', 'server/discover=1'), { auto: 'legacy' }],
]) {
  const serverOf = (box) => commandOf(box, box.write('tools.json', fileOf(before)));
  for (const [choice, era] of Object.entries(eras)) {
    describe(`mcp-inspector --cli --protocol-era ${choice}, ${serverName}`, () => {
      test(`tools/call: sitter_status shows the ${era} era`, async (t) => {
        const args = ['tools/call', '--tool-name', 'sitter_status'];
        const status = JSON.parse((await inspect(t, serverOf, choice, ...args)).content[0].text);
        assert.equal(status.protocolEra, era);
        assert.equal(status.protocolVersion === revision, era === 'modern');
      });

      // The inspector lists the tools before it calls a tool. The rebuild comes between the two.
      test('tools/call: the first result after a rebuild names the changed tools', async (t) => {
        const box = new Sandbox(t);
        const bridge = sitting(serverOf(box));
        const next = box.write('next.json', fileOf(after));
        const command = rebuilding(box.path('traffic'), next, box.path('tools.json'), bridge);
        const args = ['--tool-name', 'echo', '--tool-arg', 'text=hello'];
        const result = await printed(box, command, 0, choice, 'tools/call', ...args);

        const [notice, ...answer] = result.content;
        assert.match(notice.text, /^\[mcp-sitter\] server restarted \(spawn #\d+, pid \d+, /);
        assert.match(notice.text, /previous: killed by sitter_kill after /);
        assert.match(notice.text, /tools: \+1 added \(added\), 1 schema changed \(echo\)\./);
        assert.match(notice.text, /^echo: \+text \(string, optional\)$/m);
        assert.deepEqual(answer, [{ type: 'text', text: 'hello' }]);

        const lines = readFileSync(box.path('traffic'), 'utf8').trimEnd().split('\n');
        const traffic = lines.map((line) => JSON.parse(line));
        const called = traffic.findIndex(({ method }) => method === 'tools/call');
        const lists = traffic.slice(0, called).filter(({ result }) => result?.tools);
        assert.deepEqual(
          lists.map(({ result }) => namesOf(result)),
          [listed],
        );
        const announced = traffic.slice(called).filter(({ method }) => method === changed);
        assert.equal(announced.length, 1);
      });

      if (serverName !== fullyTested) return;

      test('tools/list: the tools of the server, then the built-in ones', async (t) => {
        assert.deepEqual(namesOf(await inspect(t, serverOf, choice, 'tools/list')), listed);
      });

      test('tools/call: of the server', async (t) => {
        const args = ['--tool-name', 'echo', '--tool-arg', 'text=hello'];
        const { content } = await inspect(t, serverOf, choice, 'tools/call', ...args);
        assert.deepEqual(content, [{ type: 'text', text: 'hello' }]);
      });

      test('tools/call: sitter_kill says what it has ended', async (t) => {
        const box = new Sandbox(t);
        const command = serverOf(box);
        const args = ['tools/call', '--tool-name', 'sitter_kill'];
        const result = await printed(box, sitting(command), 0, choice, ...args);
        const { count, killed } = JSON.parse(textOf(result));
        assert.equal(count, 1);
        assert.equal(killed[0].relation, 'child');
        assert.equal(killed[0].command, command.join(' '));
      });

      test('tools/call: a crash in mid-call is an error that says why', async (t) => {
        const box = new Sandbox(t);
        const args = ['--tool-args-json', '{"code":3,"stderr":"last words"}'];
        const result = await printed(
          box,
          sitting(serverOf(box)),
          toolIsError,
          choice,
          ...['tools/call', '--tool-name', 'crash', ...args],
        );
        assert.equal(result.isError, true);
        const [reason, ...stderr] = textOf(result).split('\n');
        assert.match(reason, new RegExp(`^\\[mcp-sitter\\] the server crashed \\(${crash}[,)]`));
        assert.match(reason, /may or may not have taken effect/);
        assert.ok(stderr.includes('last words'), textOf(result));
      });
    });
  }
}

test('with a server that cannot start, auto finds the built-in tools', async (t) => {
  const notThere = (box) => [box.path('not-built')];
  assert.deepEqual(namesOf(await inspect(t, notThere, 'auto', 'tools/list')), sitterTools);
});
