// A server that answers with whatever its plan says, right or wrong: node raw_server.mjs PLAN. The plan is a JSON file:
// { "methods": { METHOD: result }, "calls": { TOOL: result }, "says": [message, ...] }. What it says, it says before it
// answers the first call. Its lists are empty, and other methods are unknown, unless the plan has them.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { methods = {}, calls = {}, says = [] } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const opening = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, prompts: {}, resources: {} },
  serverInfo: { name: 'raw', version: '1' },
};
const lists = {
  'tools/list': { tools: [] },
  'prompts/list': { prompts: [] },
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
};
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call') says.splice(0).forEach(send);
  const known = { initialize: opening, ping: {}, ...lists, ...methods };
  const result = method === 'tools/call' ? calls[params.name] : known[method];
  send(result === undefined ? { id, error: { code: -32601, message: 'unknown' } } : { id, result });
});
