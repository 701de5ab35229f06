// The same daemon on SDK 2.x, which serves both eras and keeps no session.
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server, createMcpHandler } from '@modelcontextprotocol/server';
import { createServer } from 'node:http';
import { Plan } from '../plan.mjs';

const plan = new Plan(process.argv[2]);
const handler = createMcpHandler(() => {
  const server = new Server(plan.info, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler('tools/list', () => plan.list());
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    plan.call({ ...params, _meta: mcpReq._meta }, mcpReq.signal, mcpReq.notify),
  );
  return server;
});
createServer(toNodeHandler(handler)).listen(0);
