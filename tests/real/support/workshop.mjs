// A server under development. When it starts, it reads its tools from the file in its first
// argument; see plan.mjs.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Plan, say } from './plan.mjs';

const plan = new Plan(process.argv[2]);
const server = new Server(plan.info, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => plan.list());
server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
  plan.call(params, extra.signal, extra.sendNotification),
);

say('workshop is open');
await server.connect(new StdioServerTransport());
