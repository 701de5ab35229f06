import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { ResponsesApi, offline } from './model_api.mjs';
import { planOf } from './plan.mjs';
import { codex, sitting, workshop } from './programs.mjs';
import { runToEnd } from './wire.mjs';

/** Codex in a sandbox, without network, and with a scripted model. */
export class Codex {
  constructor(box) {
    this.box = box;
  }

  async run(...args) {
    const { status, stdout, stderr } = await runToEnd(this.box, [...codex(), ...args], {
      env: offline,
    });
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    return stdout;
  }

  /** Registers a command as the server `dev`. */
  register(command) {
    // Codex passes only the named variables on to a server.
    return this.run('mcp', 'add', 'dev', '--env', this.box.mark, '--', ...command);
  }

  /** Registers the bridge in front of a server with these tools. */
  add(...tools) {
    return this.register(sitting(workshop(this.box.write('plan.json', planOf(...tools)))));
  }

  /** Plays a whole conversation. Returns the model's side: what the model got to read. */
  async converse(...turns) {
    // Codex asks the model although a server is still starting. Its tools come with a later request.
    const hasTools = (request) =>
      ResponsesApi.toolsOf(request).some((name) => name.startsWith('mcp__dev/'));
    const api = await new ResponsesApi(turns, hasTools).start(this.box);
    appendFileSync(
      join(this.box.home, '.codex', 'config.toml'),
      `[model_providers.stand-in]
name = "stand-in"
base_url = "${api.url}/v1"
wire_api = "responses"
`,
    );
    const said = await this.run(
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '-c',
      'model_provider="stand-in"',
      '-c',
      'model="a-model"',
      'begin',
    );
    assert.equal(said, 'done');
    return api.requests;
  }
}
