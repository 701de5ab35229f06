// A client that sees only lines, for tests that look at the bytes themselves.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Mailbox, within } from './waiting.mjs';

export class Wire {
  /** The lines that have come, as text. */
  lines = new Mailbox();
  stderr = new Mailbox();
  #closed;

  constructor(box, [command, ...args], { env = {}, cwd = box.project } = {}) {
    this.process = spawn(command, args, { env: { ...box.env, ...env }, cwd });
    // A program that has ended no longer reads. Its exit says more than the failed write.
    this.process.stdin.on('error', () => {});
    createInterface({ input: this.process.stdout }).on('line', (line) => this.lines.push(line));
    createInterface({ input: this.process.stderr }).on('line', (line) => this.stderr.push(line));
    this.#closed = once(this.process, 'close');
    // The sandbox waits for the end of the program, and ends it if need be.
    box.atEnd(() => this.process.stdin.end());
  }

  send(line) {
    this.process.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  }

  /** The line that answers this id, unchanged. */
  answer(id, from = 0) {
    return this.lines.find(
      (line) => {
        const message = JSON.parse(line);
        return message.id === id && message.method === undefined;
      },
      `the answer to ${id}`,
      from,
    );
  }

  async request(id, method, params = {}) {
    const from = this.lines.items.length;
    this.send({ jsonrpc: '2.0', id, method, params });
    return JSON.parse(await this.answer(id, from));
  }

  async open(capabilities = {}) {
    const answer = await this.request('open', 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'wire', version: '1' },
    });
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer.result;
  }

  /** The exit code, or the name of the signal, after the output was read to its end. */
  async exit() {
    const [code, signal] = await within(this.#closed, () => 'the exit');
    return code ?? signal;
  }

  async end() {
    this.process.stdin.end();
    return this.exit();
  }
}

/** Runs a program to its end. Returns {status, stdout, stderr}. */
export async function runToEnd(box, command, { env, input = '', cwd } = {}) {
  const wire = new Wire(box, command, { env, cwd });
  wire.process.stdin.end(input);
  const status = await wire.exit();
  return {
    status,
    stdout: wire.lines.items.join('\n'),
    stderr: wire.stderr.items.join('\n'),
  };
}
