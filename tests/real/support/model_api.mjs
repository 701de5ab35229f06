// Services on loopback that stand in for the model: the agents ask them for its next turn.
import { once } from 'node:events';
import { createServer } from 'node:http';

/** An environment that keeps a program from every network but loopback. */
export const offline = {
  HTTP_PROXY: 'http://127.0.0.1:1',
  HTTPS_PROXY: 'http://127.0.0.1:1',
  http_proxy: 'http://127.0.0.1:1',
  https_proxy: 'http://127.0.0.1:1',
  NO_PROXY: '127.0.0.1,localhost',
  no_proxy: '127.0.0.1,localhost',
};

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/**
 * A service that plays a script. Each turn of the script is a function that gets the request and
 * returns what the model says: {text} or {tool, input}. After the last turn the model says 'done'.
 */
class ModelApi {
  /** The requests for turns, in the order in which they came. */
  requests = [];
  #turns;
  #isReady;
  #asked = 0;
  #http = createServer((request, response) => this.#serve(request, response));

  /**
   * Until a request is ready for the script, the model calls a tool that does not exist, and the
   * request does not count.
   */
  constructor(turns, isReady = () => true) {
    this.#turns = turns;
    this.#isReady = isReady;
  }

  async start(box) {
    this.#http.listen(0, '127.0.0.1');
    await once(this.#http, 'listening');
    this.url = `http://127.0.0.1:${this.#http.address().port}`;
    box.atEnd(() => {
      this.#http.close();
      this.#http.closeAllConnections();
    });
    return this;
  }

  async #serve(request, response) {
    const text = await bodyOf(request);
    if (request.method !== 'POST' || !this.serves(request.url)) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"type":"error","error":{"type":"not_found_error","message":"not here"}}');
      return;
    }
    const body = JSON.parse(text);
    let says = { text: 'done' };
    // Agents also ask for titles and the like. Such requests offer no tools.
    if (body.tools?.length > 0 && !this.#isReady(body)) {
      says = { tool: 'wait/for_the_server' };
    } else if (body.tools?.length > 0) {
      this.requests.push(body);
      const turn = this.#turns[this.requests.length - 1];
      if (turn) says = await turn(body);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of this.eventsOf(says, body, `turn${++this.#asked}`)) {
      const name = event.type ? `event: ${event.type}\n` : '';
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }
}

/** The Messages API, as far as Claude Code needs it. */
export class MessagesApi extends ModelApi {
  serves(url) {
    return url.startsWith('/v1/messages') && !url.startsWith('/v1/messages/');
  }

  *eventsOf({ text, tool, input }, { model }, id) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [] };
    yield { type: 'message_start', message: { ...message, stop_reason: null, usage } };
    const block = tool
      ? { type: 'tool_use', id: `toolu_${id}`, name: tool, input: {} }
      : { type: 'text', text: '' };
    const delta = tool
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) }
      : { type: 'text_delta', text };
    yield { type: 'content_block_start', index: 0, content_block: block };
    yield { type: 'content_block_delta', index: 0, delta };
    yield { type: 'content_block_stop', index: 0 };
    const reason = tool ? 'tool_use' : 'end_turn';
    yield { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage };
    yield { type: 'message_stop' };
  }

  /** The names of the tools that the model could call in this turn. */
  static toolsOf(request) {
    return request.tools.map(({ name }) => name);
  }

  /** What the model reads about its last call: {isError, text}. */
  static resultIn(request) {
    const blocks = request.messages.flatMap(({ content }) =>
      Array.isArray(content) ? content : [],
    );
    const result = blocks.findLast(({ type }) => type === 'tool_result');
    const content = Array.isArray(result.content)
      ? result.content.map(({ text }) => text ?? '').join('\n')
      : result.content;
    return { isError: result.is_error ?? false, text: content };
  }
}

/** The Responses API, as far as Codex needs it. */
export class ResponsesApi extends ModelApi {
  serves(url) {
    return url === '/v1/responses';
  }

  *eventsOf({ text, tool, input }, _request, id) {
    const [namespace, name] = tool?.split('/') ?? [];
    const item = tool
      ? {
          type: 'function_call',
          id: `fc_${id}`,
          call_id: `call_${id}`,
          namespace,
          name,
          arguments: JSON.stringify(input ?? {}),
        }
      : {
          type: 'message',
          id: `msg_${id}`,
          role: 'assistant',
          content: [{ type: 'output_text', text }],
        };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    yield { type: 'response.created', response: { id: `resp_${id}` } };
    yield { type: 'response.output_item.done', item };
    yield { type: 'response.completed', response: { id: `resp_${id}`, usage } };
  }

  /** The names of the tools that the model could call, as namespace/name. */
  static toolsOf(request) {
    return request.tools.flatMap(({ name, tools }) =>
      (tools ?? []).map((tool) => `${name}/${tool.name}`),
    );
  }

  /** What the model reads about its last call, as text. */
  static resultIn(request) {
    const { output } = request.input.findLast(({ type }) => type === 'function_call_output');
    return Array.isArray(output) ? output.map(({ text }) => text ?? '').join('\n') : output;
  }
}

/** The Gemini API, as far as Gemini CLI needs it. */
export class GeminiApi extends ModelApi {
  serves(url) {
    return url.includes(':streamGenerateContent');
  }

  *eventsOf({ text, tool, input }) {
    const part = tool ? { functionCall: { name: tool, args: input ?? {} } } : { text };
    yield {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
  }

  /** The names of the tools that the model could call in this turn. */
  static toolsOf(request) {
    return request.tools.flatMap(({ functionDeclarations }) =>
      (functionDeclarations ?? []).map(({ name }) => name),
    );
  }

  /** What the model reads about its last call: {output} or {error}. */
  static resultIn(request) {
    const parts = request.contents.flatMap((content) => content.parts);
    return parts.findLast(({ functionResponse }) => functionResponse).functionResponse.response;
  }
}

/** The Chat Completions API, as far as Qwen Code, Cline and opencode need it. */
export class ChatApi extends ModelApi {
  serves(url) {
    return url === '/v1/chat/completions';
  }

  *eventsOf({ text, tool, input }, { model }, id) {
    const call = { name: tool, arguments: JSON.stringify(input ?? {}) };
    const delta = tool
      ? { tool_calls: [{ index: 0, id: `call_${id}`, type: 'function', function: call }] }
      : { content: text };
    const chunk = { id: `chat_${id}`, object: 'chat.completion.chunk', created: 0, model };
    yield { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', ...delta } }] };
    const reason = tool ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    yield { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: reason }], usage };
  }

  /** What the model reads about its last call, as text. */
  static resultIn(request) {
    const { content } = request.messages.findLast(({ role }) => role === 'tool');
    return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('\n');
  }
}
