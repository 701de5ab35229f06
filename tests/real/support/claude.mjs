import assert from 'node:assert/strict';
import { MessagesApi, offline } from './model_api.mjs';
import { planOf } from './plan.mjs';
import { claude, sitting, workshop } from './programs.mjs';
import { runToEnd } from './wire.mjs';

/** Claude Code in a sandbox, without network, and with a scripted model. */
export class Claude {
  constructor(box) {
    this.box = box;
    this.env = {
      ...offline,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_TELEMETRY: '1',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    };
  }

  async run(...args) {
    const { status, stdout, stderr } = await runToEnd(this.box, [...claude(), ...args], {
      env: this.env,
    });
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    return stdout;
  }

  /** Registers a command as the server `dev`. */
  register(command) {
    return this.run('mcp', 'add', 'dev', '--', ...command);
  }

  /** Registers the bridge in front of a server with these tools. */
  add(...tools) {
    return this.register(sitting(workshop(this.box.write('plan.json', planOf(...tools)))));
  }

  /** A service that plays these turns, and the arguments that begin a conversation with it. */
  async begin(...turns) {
    const api = await new MessagesApi(turns).start(this.box);
    this.env.ANTHROPIC_BASE_URL = api.url;
    return { api, args: ['-p', 'begin', '--allowedTools', 'mcp__dev'] };
  }

  /** Plays a whole conversation. Returns the model's side: what the model got to read. */
  async converse(...turns) {
    const { api, args } = await this.begin(...turns);
    const said = await this.run(...args);
    assert.equal(said, 'done');
    assert.equal(api.requests.length, turns.length + 1);
    await this.box.nothingLeft();
    return api.requests;
  }
}
