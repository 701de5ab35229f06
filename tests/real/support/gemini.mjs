import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GeminiApi, offline } from './model_api.mjs';
import { planOf } from './plan.mjs';
import { gemini, sitting, workshop } from './programs.mjs';
import { runToEnd } from './wire.mjs';

/** Gemini CLI in a sandbox, without network, and with a scripted model. */
export class Gemini {
  constructor(box) {
    this.box = box;
  }

  async run(args, env = {}) {
    const answer = await runToEnd(this.box, [...gemini(), ...args], {
      env: { ...offline, GEMINI_CLI_TRUST_WORKSPACE: 'true', NO_COLOR: '1', ...env },
    });
    assert.equal(answer.status, 0, `${answer.stdout}\n${answer.stderr}`);
    return answer;
  }

  /** Registers the bridge in front of a command as a server. */
  register(command, name = 'dev') {
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    };
    const file = join(this.box.home, '.gemini', 'settings.json');
    if (!existsSync(file)) {
      mkdirSync(dirname(file));
      writeFileSync(file, JSON.stringify(settings));
    }
    const [program, ...words] = sitting(command);
    const options = ['--scope', 'user', '--env', this.box.mark];
    // Gemini CLI takes the first -- for itself.
    return this.run(['mcp', 'add', ...options, name, program, '--', ...words]);
  }

  /** Registers the bridge in front of a server with these tools. */
  add(...tools) {
    return this.register(workshop(this.box.write('plan.json', planOf(...tools))));
  }

  /** Plays a whole conversation. Returns the model's side: what the model got to read. */
  async converse(...turns) {
    const api = await new GeminiApi(turns).start(this.box);
    const { stdout } = await this.run(['--approval-mode', 'yolo', '-m', 'a-model', '-p', 'begin'], {
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: api.url,
    });
    assert.equal(stdout, 'done');
    assert.equal(api.requests.length, turns.length + 1);
    await this.box.nothingLeft();
    return api.requests;
  }
}
