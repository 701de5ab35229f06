// The official client, with a record of what the server sent unasked.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { createInterface } from 'node:readline';
import { Mailbox } from './waiting.mjs';

export class Session {
  /** Every message in the order in which it came. */
  messages = new Mailbox();
  /** The notifications among them, without progress. */
  notifications = new Mailbox();
  stderr = new Mailbox();

  static Client = Client;
  static Transport = StdioClientTransport;

  static async open(
    box,
    [command, ...args],
    { capabilities = {}, env, handlers = [], ...options } = {},
  ) {
    const session = new this();
    session.transport = new this.Transport({
      command,
      args,
      env: { ...box.env, ...env },
      cwd: box.project,
      stderr: 'pipe',
    });
    createInterface({ input: session.transport.stderr }).on('line', (line) =>
      session.stderr.push(line),
    );
    session.client = new this.Client(
      { name: 'real-tests', version: '1.0.0' },
      { capabilities, ...options },
    );
    // The client also sets its own handler.
    session.transport.onmessage = (message) => {
      session.messages.push(message);
      const isNotification = message.method !== undefined && message.id === undefined;
      if (isNotification && message.method !== 'notifications/progress') {
        session.notifications.push(message);
      }
    };
    for (const [asked, handler] of handlers) session.client.setRequestHandler(asked, handler);
    box.atEnd(() => session.client.close());
    await session.client.connect(session.transport);
    return session;
  }

  async toolNames() {
    return (await this.client.listTools()).tools.map((tool) => tool.name);
  }

  call(name, args = {}, options) {
    return this.client.callTool({ name, arguments: args }, undefined, options);
  }

  async status() {
    return JSON.parse(textOf(await this.call('sitter_status')));
  }

  /** Waits for a notification of this method. `from` is an earlier length of the record. */
  notified(method, from = 0) {
    return this.notifications.find((message) => message.method === method, method, from);
  }
}

/** All text in a tool's result. */
export const textOf = (result) =>
  result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
