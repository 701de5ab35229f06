// Runs the commands that README and docs show, in the project of a user.
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { commandsIn, isForm, projectDir } from './documents.mjs';
import { offline } from './model_api.mjs';
import { claude, codex, fakeMcpPath, gemini, ownFakeMcp, sitterPath } from './programs.mjs';
import { Sandbox } from './sandbox.mjs';
import { until } from './waiting.mjs';
import { Wire, runToEnd } from './wire.mjs';

/** A project of a user, with a server for each language, and the programs that build it. */
export class Place {
  constructor(t) {
    this.box = new Sandbox(t);
    const fake = ownFakeMcp(this.box);
    const server = `exec '${fake}' --stderr 'the server is ready'`;
    for (const name of ['build/my-server', 'build/notes', 'target/debug/my-server', 'my-server', 'server']) {
      this.#script(`project/${name}`, server);
    }
    this.#script('project/build/my-daemon', `exec '${fake}' --http "$2"`);
    const nodeServer =
      `require('child_process').spawn(${JSON.stringify(fake)}, { stdio: 'inherit' })` +
      `.on('exit', (code) => process.exit(code ?? 1));\n`;
    this.#write('project/dist/server.js', nodeServer);
    this.#write('project/server.js', nodeServer);
    for (const name of ['src/main.c', 'Cargo.toml', 'CMakeLists.txt', 'server.py', 'main.go', 'Program.cs']) {
      this.#write(`project/${name}`, '\n');
    }
    cpSync(join(projectDir, 'docs/examples/cli/notes.sh'), this.box.path('project/notes.sh'));
    chmodSync(this.box.path('project/notes.sh'), 0o755);

    // Tools that this machine may lack build nothing, and run the server where they would.
    for (const tool of ['cmake', 'cargo', 'go', 'npm', 'make']) this.#script(`bin/${tool}`, 'exit 0');
    for (const tool of ['uv', 'npx', 'dotnet']) {
      this.#script(`bin/${tool}`, `case $1 in build | sync) exit 0 ;; esac\n${server}`);
    }
    symlinkSync(sitterPath(), this.box.path('bin/mcp-sitter'));
    for (const [name, command] of [
      ['claude', claude()],
      ['codex', codex()],
      ['gemini', gemini()],
    ]) {
      this.#script(`bin/${name}`, `exec ${command.map((word) => `'${word}'`).join(' ')} "$@"`);
    }
    this.env = {
      ...offline,
      PATH: `${this.box.path('bin')}:${this.box.env.PATH}`,
      TOKEN: 'secret',
      NOTES_AUTH: 'Bearer secret',
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
  }

  #write(name, text) {
    mkdirSync(dirname(this.box.path(name)), { recursive: true });
    return this.box.write(name, text);
  }

  #script(name, commands) {
    chmodSync(this.#write(name, `#!/bin/sh\n${commands}\n`), 0o755);
  }

  /** Runs a line of a shell to its end. */
  async run(line) {
    const ended = await runToEnd(this.box, ['/bin/sh', '-c', line], { env: this.env });
    assert.equal(ended.status, 0, `${line}\n${ended.stdout}\n${ended.stderr}`);
    return ended.stdout;
  }

  start(line, env = {}) {
    return new Wire(this.box, ['/bin/sh', '-c', `exec ${line}`], { env: { ...this.env, ...env } });
  }

  /** Opens a session with a bridge and lists the tools of its server. */
  async play(wire) {
    await wire.open();
    const { result } = await wire.request('list', 'tools/list');
    const names = result.tools.map((tool) => tool.name);
    assert.ok(names.includes('sitter_status'), names);
    assert.ok(names.some((name) => !name.startsWith('sitter_')), `only ${names}`);
    assert.equal(await wire.end(), 0, wire.stderr.items.join('\n'));
  }

  /** A daemon, and the line with its port in place of the one that the page shows. */
  async withDaemon(line) {
    if (!/http:\/\/127|https:/.test(line) || line.includes('my-daemon')) return line;
    const daemon = this.start(`'${fakeMcpPath()}' --http 0 --life-limit 60`);
    const said = await daemon.stderr.find((text) => /listening|http|\d+$/.test(text), 'the address');
    const [address] = said.match(/[\d.]+:\d+/);
    this.box.atEnd(() => daemon.process.kill());
    return line.replace(/https?:\/\/[^/ ]+\/mcp/, `http://${address}/mcp`);
  }
}

/** The command line and the variables of the server that a client has registered. */
async function registered(place, client) {
  const read = (path) => JSON.parse(readFileSync(place.box.path(path), 'utf8'));
  if (client === 'claude') {
    const { projects, mcpServers } = read('home/.claude.json');
    const servers = { ...mcpServers, ...projects?.[place.box.project]?.mcpServers };
    return Object.values(servers)[0];
  }
  if (client === 'gemini') return Object.values(read('project/.gemini/settings.json').mcpServers)[0];
  const [{ transport }] = JSON.parse(await place.run('codex mcp list --json'));
  return transport;
}

const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** What is done with each kind of command. */
export const kinds = [
  // The packed packages are installed by tests/package, and the archives too.
  [/^(npm (un)?install -g|npx -y mcp-sitter-native|\.\/dev (install|package)|curl|sh install\.sh)/, async () => {}],
  [/mcp-sitter --where$/, async (place, line) => assert.match(await place.run(line), /^\/.*mcp-sitter$/)],
  [
    /^(claude|codex|gemini) mcp add/,
    async (place, line) => {
      await place.run(await place.withDaemon(line));
      const { command, args, env } = await registered(place, line.split(' ')[0]);
      await place.play(place.start([command, ...args].map(quoted).join(' '), env ?? {}));
    },
  ],
  [
    /^(claude|codex|gemini) mcp remove/,
    async (place, line) => {
      const [client, , , name] = line.split(' ');
      await place.run(`${client} mcp add ${name} ${client === 'gemini' ? '' : '--'} mcp-sitter ./my-server`);
      await place.run(line);
    },
  ],
  [
    /^mcp-sitter ctl/,
    async (place, line) => {
      const bridge = place.start('mcp-sitter --name dev ./build/my-server');
      await bridge.open();
      // The bridge answers a client before it listens to ctl.
      await until(
        async () => /\bdev\b/.test(await place.run('mcp-sitter ctl list')),
        () => 'the bridge in the list of ctl',
      );
      line = line.replace('4711', bridge.process.pid);
      if (line.includes('--follow')) {
        const follower = place.start(line);
        await follower.lines.find((text) => text.includes('the server is ready'), 'the stderr');
        follower.process.kill('SIGINT');
        await follower.exit();
      } else {
        assert.match(await place.run(line), /\S/);
      }
      assert.equal(await bridge.end(), 0);
    },
  ],
  [
    /^mcp-sitter setup/,
    async (place, line) => {
      await place.run('claude mcp add notes -- ./build/notes');
      await place.run('claude mcp add dev -- ./build/my-server');
      if (line.includes('--undo')) await place.run(line.replace('--undo', '--wrap'));
      assert.match(await place.run(line), /\S/);
    },
  ],
  [
    /^mcp-sitter (doctor|demo|help|completion)/,
    async (place, line) => assert.match(await place.run(await place.withDaemon(line)), /\S/),
  ],
  [/^mcp-sitter /, async (place, line) => place.play(place.start(await place.withDaemon(line)))],
];

/** Whether the command needs an agent. */
const needsAgent = (line) => /^(claude|codex|gemini) |^mcp-sitter setup/.test(line);

/** Adds a test for each command of a page that needs an agent, or for each that needs none. */
export function testCommands(page, withAgents) {
  for (const line of new Set(commandsIn(page))) {
    if (isForm(line) || needsAgent(line) !== withAgents) continue;
    test(line, async (t) => {
      const kind = kinds.find(([pattern]) => pattern.test(line));
      assert.ok(kind, 'nothing runs such a command');
      await kind[1](new Place(t), line);
    });
  }
}
