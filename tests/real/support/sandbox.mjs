// The directory, the environment and the processes of one test.
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

/** wine starts these for a program, with the environment of that program, and they end after it. */
const ofWine = /\\system32\\(conhost|explorer)\.exe/;

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // A process may end at any moment, or may belong to somebody else.
    return '';
  }
}

export class Sandbox {
  #ends = [];
  #isWaitedFor = false;

  /** An empty directory. It is removed at the end of the test, with every process of the test. */
  constructor(t) {
    this.dir = mkdtempSync(join(tmpdir(), 'mcp-sitter-real-'));
    this.home = join(this.dir, 'home');
    this.project = join(this.dir, 'project');
    mkdirSync(this.home);
    mkdirSync(this.project);
    t.after(() => this.#end());
  }

  /** The whole environment of a program of this test. */
  get env() {
    return {
      HOME: this.home,
      PATH: `${nodeDir}:/usr/local/bin:/usr/bin:/bin`,
      TMPDIR: this.dir,
      LANG: 'C.UTF-8',
      [markName]: this.dir,
    };
  }

  /** The NAME=VALUE that marks processes of this test, for clients that pass no variables on. */
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

  /** Adds an action for the end of the test. The action that was added last comes first. */
  atEnd(action) {
    this.#ends.push(action);
  }

  /** Every living process that has inherited this sandbox's environment. */
  processes() {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => readOrEmpty(`/proc/${pid}/environ`).split('\0').includes(this.mark))
      .map((pid) => ({
        pid: Number(pid),
        command: readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
      }))
      .filter(({ command }) => !ofWine.test(command));
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
      // A test that has waited has already reported what was left.
      if (!this.#isWaitedFor || this.processes().length === 0) await this.nothingLeft();
    } finally {
      for (const { pid } of this.processes()) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // The process has ended by itself meanwhile.
        }
      }
      rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}
