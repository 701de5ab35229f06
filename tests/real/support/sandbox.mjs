// One test's own directory, environment and processes.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeDir } from './programs.mjs';
import { until } from './waiting.mjs';

const markName = 'MCP_SITTER_TEST';

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // A process may end, or belong to somebody else, at any moment.
    return '';
  }
}

export class Sandbox {
  #ends = [];
  #isWaitedFor = false;

  /** An empty directory that is removed, with every process of the test, when the test is over. */
  constructor(t) {
    this.dir = mkdtempSync(join(tmpdir(), 'mcp-sitter-real-'));
    this.home = join(this.dir, 'home');
    this.project = join(this.dir, 'project');
    mkdirSync(this.home);
    mkdirSync(this.project);
    t.after(() => this.#end());
  }

  /** All that a program of this test gets to see of the machine. */
  get env() {
    return {
      HOME: this.home,
      PATH: `${nodeDir}:/usr/local/bin:/usr/bin:/bin`,
      TMPDIR: this.dir,
      LANG: 'C.UTF-8',
      [markName]: this.dir,
    };
  }

  /** NAME=VALUE of what marks a process as this test's, for clients that pass no environment on. */
  get mark() {
    return `${markName}=${this.dir}`;
  }

  path(name) {
    return join(this.dir, name);
  }

  /** Writes a file in one step, so that nobody reads half of it. */
  write(name, text, mode = 0o644) {
    const path = this.path(name);
    writeFileSync(`${path}.new`, text, { mode });
    renameSync(`${path}.new`, path);
    return path;
  }

  /** To be done when the test is over; the last comes first. */
  atEnd(action) {
    this.#ends.push(action);
  }

  /** Every living process that was started with this sandbox's environment, however far down. */
  processes() {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => readOrEmpty(`/proc/${pid}/environ`).split('\0').includes(this.mark))
      .map((pid) => ({
        pid: Number(pid),
        command: readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
      }));
  }

  /** Waits until no process of this sandbox is left. */
  async nothingLeft() {
    this.#isWaitedFor = true;
    await until(
      () => this.processes().length === 0,
      () => `the end of ${JSON.stringify(this.processes())}`,
    );
  }

  async #end() {
    try {
      for (const action of this.#ends.reverse()) await action();
      // A test that waited has said by now what was left.
      if (!this.#isWaitedFor || this.processes().length === 0) await this.nothingLeft();
    } finally {
      for (const { pid } of this.processes()) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // Ended by itself meanwhile.
        }
      }
      rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}
