// A client that has opened a session with a command.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export class Session {
  #lines;
  #errors = [];
  #lastId = 0;

  /** Opens the session. The process is killed when the test `t` ends, which calls what `t.after` was given. */
  static async open(t, [command, ...words], options) {
    const session = new this();
    const child = spawn(command, words, { stdio: 'pipe', ...options });
    t.after(() => {
      child.stdin.destroy();
      child.kill('SIGKILL');
    });
    child.stderr.on('data', (data) => session.#errors.push(data));
    session.child = child;
    session.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    session.ended = new Promise((done) => child.on('close', (code, signal) => done({ code, signal })));
    const clientInfo = { name: 'package', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    session.opening = await session.ask('initialize', params);
    session.#send({ method: 'notifications/initialized' });
    return session;
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  get stderr() {
    return Buffer.concat(this.#errors).toString();
  }

  async ask(method, params = {}) {
    const id = ++this.#lastId;
    this.#send({ id, method, params });
    for (;;) {
      const { value, done } = await this.#lines.next();
      assert.ok(!done, `no answer to ${method}; stderr: ${this.stderr}`);
      const message = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  }

  /** The text of a tool's result. */
  async call(name) {
    const { content } = await this.ask('tools/call', { name, arguments: {} });
    return content.map((block) => block.text).join('\n');
  }

  async showsError(text) {
    while (!this.stderr.includes(text)) await once(this.child.stderr, 'data');
  }

  /** Ends the session as a client does. */
  async close() {
    this.child.stdin.end();
    assert.deepEqual(await this.ended, { code: 0, signal: null });
  }
}
