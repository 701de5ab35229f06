// A daemon over HTTP that a test starts, ends and starts again at the same port.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { server, sitterPath, testsDir } from './programs.mjs';
import { Mailbox, within } from './waiting.mjs';

const daemonsDir = join(testsDir, 'support', 'daemons');

/** Options of Node.js with which a program listens on loopback only; see confined.mjs. */
export const confined = ['--import', join(daemonsDir, 'confined.mjs')];

const node = (...words) => [process.execPath, ...confined, ...words];

/** The command line of server-everything as a daemon. */
export const everything = () => node(...server('everything', 'streamableHttp').slice(1));

/** The command line of a daemon on SDK 1.x. `kind` says how it is built; see sdk1.mjs. */
export const sdk1 = (planFile, kind) => node(join(daemonsDir, 'sdk1.mjs'), planFile, kind);

/** The command line of a daemon on SDK 2.x. */
export const sdk2 = (planFile) => node(join(daemonsDir, 'sdk2.mjs'), planFile);

export class Daemon {
  /** The lines on stderr, of each process in turn. */
  stderr = new Mailbox();
  port = 0;
  #box;
  #command;
  #env;
  #process;

  /** A daemon that listens. `scheme` and `name` are those of its URL. */
  static async start(box, command, { scheme = 'http', name = '127.0.0.1', env } = {}) {
    const daemon = Object.assign(new this(), { scheme, name });
    daemon.#box = box;
    daemon.#command = command;
    daemon.#env = env;
    box.atEnd(() => daemon.kill());
    await daemon.start();
    return daemon;
  }

  get url() {
    return `${this.scheme}://${this.name}:${this.port}/mcp`;
  }

  /** Starts a process, and waits until it listens. */
  async start() {
    const [program, ...args] = this.#command;
    const from = this.stderr.items.length;
    // Without the mark of the sandbox, because it is not the daemon that must not be left over.
    const [mark] = this.#box.mark.split('=');
    const { [mark]: _, ...env } = this.#box.env;
    this.#process = spawn(program, args, {
      env: { ...env, PORT: String(this.port), ENDS_WITH_INPUT: '1', ...this.#env },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    createInterface({ input: this.#process.stderr }).on('line', (line) => this.stderr.push(line));
    const listening = /^listening on port (\d+)$/;
    const line = await this.stderr.find((text) => listening.test(text), 'the daemon', from);
    this.port = Number(listening.exec(line)[1]);
  }

  /** Ends the process, and waits for its end. */
  async kill(signal = 'SIGKILL') {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill(signal);
    await within(ended, () => 'the end of the daemon');
  }

  async restart() {
    await this.kill();
    await this.start();
  }
}

/** The bridge in front of a daemon. */
export const bridged = (url, ...options) => [sitterPath(), '--http', url, ...options];
