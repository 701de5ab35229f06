// The command line of the official inspector.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspector, server, sitting } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { runToEnd } from './support/wire.mjs';

const sitterTools = ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'];

async function inspect(t, era, method, ...args) {
  const box = new Sandbox(t);
  const [command, ...words] = sitting(server('everything'));
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

// With 'auto' it asks server/discover first and falls back to initialize in the same process.
for (const era of ['legacy', 'auto']) {
  describe(`mcp-inspector --cli --protocol-era ${era}`, () => {
    test('tools/list: the tools of the server, then the built-in ones', async (t) => {
      const names = (await inspect(t, era, 'tools/list')).tools.map(({ name }) => name);
      assert.ok(names.includes('echo'));
      assert.deepEqual(names.slice(-4), sitterTools);
    });

    test('tools/call: of the server', async (t) => {
      assert.deepEqual(
        await inspect(t, era, 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hello'),
        { content: [{ type: 'text', text: 'Echo: hello' }] },
      );
    });

    test('tools/call: a built-in one', async (t) => {
      const result = await inspect(t, era, 'tools/call', '--tool-name', 'sitter_status');
      const status = JSON.parse(result.content[0].text);
      assert.equal(status.childCommand, process.execPath);
      assert.equal(status.childAlive, true);
    });

    test('resources/list', async (t) => {
      const { resources } = await inspect(t, era, 'resources/list');
      assert.ok(resources.some(({ uri }) => uri.startsWith('demo://')));
    });

    test('prompts/list', async (t) => {
      const { prompts } = await inspect(t, era, 'prompts/list');
      assert.ok(prompts.some(({ name }) => name === 'simple-prompt'));
    });
  });
}
