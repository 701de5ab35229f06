// A daemon on SDK 1.x, which reads its tools from the file in its first argument; see plan.mjs. The
// second argument says how it is built:
//
//   sessions    a server and a transport for each session, as in most examples of the SDK
//   resumable   the same, and every event has an id and is kept
//   single      one server and one transport, and so one session
//   stateless   a server and a transport for each request
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
  isInitializeRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Plan, say } from '../plan.mjs';

const [, , planFile, kind] = process.argv;
const plan = new Plan(planFile);

/** Keeps the events of every stream, in the order in which they came. */
class EventStore {
  #events = [];

  async storeEvent(streamId, message) {
    this.#events.push({ streamId, message });
    return String(this.#events.length);
  }

  async getStreamIdForEventId(id) {
    return this.#events[Number(id) - 1]?.streamId;
  }

  async replayEventsAfter(id, { send }) {
    const streamId = await this.getStreamIdForEventId(id);
    for (const [index, event] of this.#events.entries()) {
      // The first event of a stream is empty, and only says from where the stream can be resumed.
      const isMessage = event.message.jsonrpc !== undefined;
      if (index >= Number(id) && event.streamId === streamId && isMessage) {
        await send(String(index + 1), event.message);
      }
    }
    return streamId;
  }
}

/** Is called when a client asks for the rest of a stream. */
let onResumed = () => {};

function serverWithTools() {
  const server = new Server(plan.info, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, () => plan.list());
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    plan.call(params, extra.signal, extra.sendNotification, {
      ask: (message) =>
        extra.sendRequest(
          {
            method: 'elicitation/create',
            params: { message, requestedSchema: { type: 'object', properties: {} } },
          },
          ElicitResultSchema,
        ),
      drop: () => {
        extra.closeSSEStream();
        return new Promise((resolve) => (onResumed = resolve));
      },
    }),
  );
  return server;
}

async function newTransport(options) {
  const transport = new StreamableHTTPServerTransport(options);
  await serverWithTools().connect(transport);
  return transport;
}

const refuse = (response, status, code, message) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
};

const sessions = new Map();

/** The transport that serves this request; undefined if the request is refused. */
async function transportFor(request, response, body) {
  const id = request.headers['mcp-session-id'];
  if (id !== undefined && sessions.has(id)) return sessions.get(id);
  if (id !== undefined || !isInitializeRequest(body)) {
    refuse(response, 400, -32000, 'Bad Request: No valid session ID provided');
    return undefined;
  }
  const transport = await newTransport({
    sessionIdGenerator: randomUUID,
    eventStore: kind === 'resumable' ? new EventStore() : undefined,
    retryInterval: kind === 'resumable' ? 50 : undefined,
    onsessioninitialized: (opened) => {
      say('session opened');
      sessions.set(opened, transport);
    },
  });
  transport.onclose = () => {
    say('session closed');
    sessions.delete(transport.sessionId);
  };
  return transport;
}

const only = kind === 'single' ? await newTransport({ sessionIdGenerator: randomUUID }) : undefined;

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
}

async function serve(request, response) {
  const body = await bodyOf(request);
  if (request.url !== '/mcp') return refuse(response, 404, -32000, 'Not found');
  if (request.headers['last-event-id'] !== undefined) {
    say('a stream is resumed');
    onResumed();
  }
  if (kind === 'stateless') {
    if (request.method !== 'POST') return refuse(response, 405, -32000, 'Method not allowed.');
    const transport = await newTransport({ sessionIdGenerator: undefined });
    response.on('close', () => transport.close());
    return transport.handleRequest(request, response, body);
  }
  const transport = only ?? (await transportFor(request, response, body));
  return transport?.handleRequest(request, response, body);
}

const { TLS_KEY: key, TLS_CERT: cert } = process.env;
const server = key
  ? createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, serve)
  : createServer(serve);
server.listen(0);
