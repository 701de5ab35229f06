// The same server on the second official SDK, which speaks both eras.
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Plan, say } from './plan.mjs';

const plan = new Plan(process.argv[2]);
serveStdio(() => {
  const server = new Server(plan.info, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => plan.list());
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    plan.call({ ...params, _meta: mcpReq._meta }, mcpReq.signal, mcpReq.notify),
  );
  return server;
});
say('workshop is open');
