// A server under development: its tools are what the file in its first argument says when it
// starts. A tool there has name, description and inputSchema, and in `does`
//   answer      the text of its result
//   structured  structured content instead, with the tool's outputSchema
//   stderr      lines that it writes first
//   exit        ends the process with this code; signal with this signal
//   waits       never answers, but writes a line to stderr when it starts and when it is cancelled
//   progress    as many progress notifications before the answer, without a pause
// The names of the tools that were called are written to a file beside that one, ending in .calls.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { appendFileSync, readFileSync, writeSync } from 'node:fs';

const say = (line) => writeSync(2, `${line}\n`);

const [, , planFile] = process.argv;
const plan = JSON.parse(readFileSync(planFile, 'utf8'));
const server = new Server(
  { name: 'workshop', version: plan.version ?? '1.0.0' },
  { capabilities: { tools: {} } },
);

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: plan.tools.map(({ does, ...tool }) => ({
    description: `The tool ${tool.name}`,
    inputSchema: { type: 'object' },
    ...tool,
  })),
}));

server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
  appendFileSync(`${planFile}.calls`, `${params.name}\n`);
  const tool = plan.tools.find(({ name }) => name === params.name);
  if (!tool) return { content: [{ type: 'text', text: `no tool ${params.name}` }], isError: true };
  const does = tool.does ?? {};
  for (const line of does.stderr ?? []) say(line);
  if (does.exit !== undefined) process.exit(does.exit);
  if (does.signal) process.kill(process.pid, does.signal);
  if (does.waits || does.signal) {
    say(`${tool.name} waits`);
    await new Promise((resolve) => extra.signal.addEventListener('abort', resolve));
    say(`${tool.name} was cancelled`);
    return { content: [] };
  }
  const sent = [];
  for (let progress = 1; progress <= (does.progress ?? 0); ++progress) {
    sent.push(
      extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: extra._meta.progressToken, progress, total: does.progress },
      }),
    );
  }
  await Promise.all(sent);
  const text = does.answer ?? JSON.stringify(does.structured ?? params.arguments);
  return {
    content: [{ type: 'text', text }],
    ...(does.structured && { structuredContent: does.structured }),
  };
});

say('workshop is open');
await server.connect(new StdioServerTransport());
