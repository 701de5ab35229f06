// The command line of the official inspector.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeMcpPath, inspector, server, sitting, workshopV2 } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { runToEnd } from './support/wire.mjs';

const sitterTools = ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'];

const revision = '2026-07-28';

/** Runs the inspector in front of the bridge and the server; `serverOf` gets the sandbox. */
async function inspect(t, serverOf, era, method, ...args) {
  const box = new Sandbox(t);
  const [command, ...words] = sitting(serverOf(box));
  const config = box.write(
    'mcp.json',
    // The inspector gives a server only the variables that are named for it.
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
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  await box.nothingLeft();
  return JSON.parse(stdout);
}

const everything = () => server('everything');

// With 'auto' it asks server/discover first and falls back to initialize in the same process.
for (const era of ['legacy', 'auto']) {
  describe(`mcp-inspector --cli --protocol-era ${era}`, () => {
    test('tools/list: the tools of the server, then the built-in ones', async (t) => {
      const names = (await inspect(t, everything, era, 'tools/list')).tools.map(({ name }) => name);
      assert.ok(names.includes('echo'));
      assert.deepEqual(names.slice(-4), sitterTools);
    });

    test('tools/call: of the server', async (t) => {
      assert.deepEqual(
        await inspect(
          t,
          everything,
          era,
          ...['tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hello'],
        ),
        { content: [{ type: 'text', text: 'Echo: hello' }] },
      );
    });

    test('tools/call: a built-in one', async (t) => {
      const args = ['tools/call', '--tool-name', 'sitter_status'];
      const result = await inspect(t, everything, era, ...args);
      const status = JSON.parse(result.content[0].text);
      assert.equal(status.childCommand, process.execPath);
      assert.equal(status.childAlive, true);
      assert.equal(status.protocolEra, 'legacy');
    });

    test('resources/list', async (t) => {
      const { resources } = await inspect(t, everything, era, 'resources/list');
      assert.ok(resources.some(({ uri }) => uri.startsWith('demo://')));
    });

    test('prompts/list', async (t) => {
      const { prompts } = await inspect(t, everything, era, 'prompts/list');
      assert.ok(prompts.some(({ name }) => name === 'simple-prompt'));
    });
  });
}

const plan = '{"tools":[{"name":"echo","does":{"answer":"hello"}}]}';
const onSecondSdk = (box) => workshopV2(box.write('plan.json', plan));
const fake =
  (...flags) =>
  () => [fakeMcpPath(), ...flags];

// Which era each server and each choice of the inspector make together.
for (const [serverName, serverOf, eras] of [
  [
    'a server on the second official SDK',
    onSecondSdk,
    { legacy: 'legacy', auto: 'modern', modern: 'modern' },
  ],
  [
    'fake-mcp --era dual',
    fake('--era', 'dual'),
    { legacy: 'legacy', auto: 'modern', modern: 'modern' },
  ],
  ['fake-mcp --era modern', fake('--era', 'modern'), { auto: 'modern', modern: 'modern' }],
  ['fake-mcp --era legacy', fake('--era', 'legacy'), { legacy: 'legacy', auto: 'legacy' }],
  ['fake-mcp that exits when probed', fake('--exit-on', 'server/discover=1'), { auto: 'legacy' }],
]) {
  for (const [choice, era] of Object.entries(eras)) {
    describe(`mcp-inspector --cli --protocol-era ${choice}, ${serverName}`, () => {
      test('tools/list: the tools of the server, then the built-in ones', async (t) => {
        const names = (await inspect(t, serverOf, choice, 'tools/list')).tools.map(
          ({ name }) => name,
        );
        assert.ok(names.includes('echo'));
        assert.deepEqual(names.slice(-4), sitterTools);
      });

      test('tools/call: of the server', async (t) => {
        const args = ['--tool-name', 'echo', '--tool-arg', 'text=hello'];
        const { content } = await inspect(t, serverOf, choice, 'tools/call', ...args);
        assert.deepEqual(content, [{ type: 'text', text: 'hello' }]);
      });

      test(`tools/call: sitter_status shows the ${era} era`, async (t) => {
        const args = ['tools/call', '--tool-name', 'sitter_status'];
        const status = JSON.parse((await inspect(t, serverOf, choice, ...args)).content[0].text);
        assert.equal(status.protocolEra, era);
        assert.equal(status.protocolVersion === revision, era === 'modern');
      });
    });
  }
}

test('with a server that cannot start, auto finds the built-in tools', async (t) => {
  const notThere = (box) => [box.path('not-built')];
  const { tools } = await inspect(t, notThere, 'auto', 'tools/list');
  assert.deepEqual(
    tools.map(({ name }) => name),
    sitterTools,
  );
});
