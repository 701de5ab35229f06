// A user who has nothing but Node.js, and an empty HOME.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Newcomer {
  /** The user's folders are removed at the end of the test. `name` is part of their paths. */
  constructor(t, registry, name = 'sitter-newcomer') {
    this.root = mkdtempSync(join(tmpdir(), `${name}-`));
    t.after(() => rmSync(this.root, { recursive: true, force: true, maxRetries: 5 }));
    // Older versions of npm need the prefix to be there.
    for (const each of ['home', 'project', 'bin', 'cache', 'tmp', 'prefix/lib']) {
      mkdirSync(this.path(each), { recursive: true });
    }
    this.env = {
      HOME: this.path('home'),
      TMPDIR: this.path('tmp'),
      XDG_CACHE_HOME: this.path('cache'),
      PATH: [this.path('prefix/bin'), this.path('bin'), process.env.PATH].join(':'),
      LANG: 'C.UTF-8',
      npm_config_prefix: this.path('prefix'),
      npm_config_cache: this.path('cache/npm'),
      npm_config_registry: registry.url,
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
    };
  }

  path(name) {
    return join(this.root, name);
  }

  /** Runs a line of a shell in the project, or elsewhere. Returns its exit code and what it said. */
  async tries(line, cwd = this.path('project')) {
    const shell = spawn('/bin/sh', ['-c', line], { env: this.env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    shell.stdout.on('data', (data) => (said.stdout += data));
    shell.stderr.on('data', (data) => (said.stderr += data));
    const [code] = await once(shell, 'close');
    return { code, ...said };
  }

  /** The same, for a line that must succeed. */
  async run(line, cwd) {
    const { code, stdout, stderr } = await this.tries(line, cwd);
    assert.equal(code, 0, `${line}\n${stdout}${stderr}`);
    return stdout;
  }
}
