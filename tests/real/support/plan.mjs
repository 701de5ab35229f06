// How a workshop follows its plan, on either SDK. The plan is a file with a list of tools. A tool
// has name, description and inputSchema, and these members in `does`:
//   answer      the text of its result
//   structured  structured content instead, with the tool's outputSchema
//   stderr      lines that it writes first
//   exit        ends the process with this code; `signal` ends it with this signal
//   waits       never answers, but writes a line to stderr when it starts and when it is cancelled
//   progress    this many progress notifications before that, without a pause
//   asks        asks the client by elicitation, and answers with what the client said
//   drops       ends the stream of its response first, and answers 'at once' or 'when resumed'
//   holds       answers when this file is there, and writes a line to stderr when it starts
// The names of the tools that were called are written to a file beside the plan, whose name ends in
// .calls.
import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs';
import { until } from './waiting.mjs';

export const say = (line) => writeSync(2, `${line}\n`);

export class Plan {
  #file;
  #tools;

  constructor(file) {
    const { version = '1.0.0', tools } = JSON.parse(readFileSync(file, 'utf8'));
    this.#file = file;
    this.#tools = tools;
    this.info = { name: 'workshop', version };
  }

  /** The result of tools/list. */
  list() {
    return {
      tools: this.#tools.map(({ does, ...tool }) => ({
        description: `The tool ${tool.name}`,
        inputSchema: { type: 'object' },
        ...tool,
      })),
    };
  }

  /**
   * The result of tools/call. `signal` and `notify` are those of the call. A daemon may also have
   * `ask`, and `drop`, which ends the stream of the response and returns a promise of the next one.
   */
  async call(params, signal, notify, { ask, drop } = {}) {
    appendFileSync(`${this.#file}.calls`, `${params.name}\n`);
    const tool = this.#tools.find(({ name }) => name === params.name);
    if (!tool) {
      return { content: [{ type: 'text', text: `no tool ${params.name}` }], isError: true };
    }
    const does = tool.does ?? {};
    for (const line of does.stderr ?? []) say(line);
    if (does.exit !== undefined) process.exit(does.exit);
    if (does.signal) process.kill(process.pid, does.signal);
    const sent = [];
    for (let progress = 1; progress <= (does.progress ?? 0); ++progress) {
      const { progressToken } = params._meta;
      sent.push(
        notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: does.progress },
        }),
      );
    }
    await Promise.all(sent);
    if (does.waits || does.signal) {
      say(`${tool.name} waits`);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      say(`${tool.name} was cancelled`);
      return { content: [] };
    }
    if (does.holds) {
      say(`${tool.name} is held`);
      await until(
        () => existsSync(does.holds),
        () => does.holds,
      );
    }
    if (does.drops) {
      const resumed = drop();
      if (does.drops === 'when resumed') await resumed;
    }
    if (does.asks)
      return { content: [{ type: 'text', text: JSON.stringify(await ask(does.asks)) }] };
    const text = does.answer ?? JSON.stringify(does.structured ?? params.arguments);
    return {
      content: [{ type: 'text', text }],
      ...(does.structured && { structuredContent: does.structured }),
    };
  }
}

/** The text of a file with these tools. */
export const planOf = (...tools) => JSON.stringify({ tools });
