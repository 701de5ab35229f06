// `mcp-sitter setup` with the settings that the clients themselves write, and the clients
// themselves as readers of what it has written.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { Claude } from '../support/claude.mjs';
import { Codex } from '../support/codex.mjs';
import { offline } from '../support/model_api.mjs';
import { planOf } from '../support/plan.mjs';
import { claude, cline, gemini, opencode, qwen, sitterPath, workshop } from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';
import { Session } from '../support/session.mjs';
import { runToEnd } from '../support/wire.mjs';

async function run(box, command, env = {}) {
  const { status, stdout, stderr } = await runToEnd(box, command, { env });
  assert.equal(status, 0, `${command.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

const setup = (box, ...words) => run(box, [sitterPath(), 'setup', ...words]);

const server = (box) =>
  workshop(box.write('plan.json', planOf({ name: 'echo', does: { answer: 'an echo' } })));

/** Starts what the client would start, and calls the tool of the server through it. */
async function answers(box, command) {
  const session = await Session.open(box, command);
  assert.deepEqual((await session.call('echo')).content.at(-1), { type: 'text', text: 'an echo' });
  assert.ok((await session.toolNames()).includes('sitter_status'));
  await session.client.close();
}

/** What stands between `name:` and the end of its line. */
const field = (text, name) => text.match(new RegExp(`^ *${name}: *(.*)$`, 'm'))?.[1];

// The client waits for a server that it cannot reach.
describe('Claude Code', { concurrency: 3 }, () => {
  test('claude mcp get and list understand a wrapped server, in each scope', async (t) => {
    const box = new Sandbox(t);
    const agent = new Claude(box);
    const [command, ...args] = server(box);
    for (const scope of ['local', 'project', 'user']) {
      await agent.run('mcp', 'add', `dev-${scope}`, '-s', scope, '-e', 'A=b', '--', command, ...args);
      const file = join(...(scope === 'project' ? [box.project, '.mcp.json'] : [box.home, '.claude.json']));
      // At its first run, the client adds members of its own.
      await agent.run('mcp', 'get', `dev-${scope}`);
      const before = readFileSync(file);
      await setup(box, 'claude', '--wrap', `dev-${scope}`, '--no-watch');
      const said = await agent.run('mcp', 'get', `dev-${scope}`);
      assert.equal(field(said, 'Command'), sitterPath());
      assert.equal(field(said, 'Args'), ['--', command, ...args].join(' '));
      assert.match(said, /A=/);
      await setup(box, 'claude', '--undo', `dev-${scope}`);
      assert.deepEqual(readFileSync(file), before);
      await setup(box, 'claude', '--wrap', `dev-${scope}`, '--no-watch');
    }
    assert.match(await agent.run('mcp', 'list'), /^dev-user: .*mcp-sitter -- .* - ✔ Connected$/m);
    await answers(box, [sitterPath(), '--', command, ...args]);
  });

  test('claude mcp add-json registers a new server, and undo takes it away', async (t) => {
    const box = new Sandbox(t);
    const agent = new Claude(box);
    const bin = join(box.dir, 'bin');
    mkdirSync(bin);
    symlinkSync(claude()[0], join(bin, 'claude'));
    const env = { ...agent.env, PATH: `${bin}:${box.env.PATH}` };
    await run(box, [sitterPath(), 'setup', 'claude', 'dev', '--no-watch', '--', ...server(box)], env);
    const said = await agent.run('mcp', 'get', 'dev');
    assert.match(field(said, 'Scope'), /^Local/);
    assert.equal(field(said, 'Args'), ['--', ...server(box)].join(' '));
    assert.match(await agent.run('mcp', 'list'), /^dev: .* - ✔ Connected$/m);
    await run(box, [sitterPath(), 'setup', 'claude', '--undo', 'dev'], env);
    assert.doesNotMatch(await agent.run('mcp', 'list'), /dev/);
  });

  test('claude mcp get understands a wrapped server over HTTP', async (t) => {
    const box = new Sandbox(t);
    const agent = new Claude(box);
    const url = 'http://127.0.0.1:1/mcp';
    await agent.run('mcp', 'add', '-t', 'http', 'web', url, '-H', 'Authorization: Bearer s3cret');
    const printed = await setup(box, 'claude', '--wrap', 'web');
    assert.doesNotMatch(printed, /s3cret/);
    const said = await agent.run('mcp', 'get', 'web');
    assert.equal(field(said, 'Type'), 'stdio');
    const variable = 'MCP_SITTER_HEADER_AUTHORIZATION';
    assert.equal(field(said, 'Args'), `--http ${url} --header-env Authorization=${variable}`);
    const { projects } = JSON.parse(readFileSync(join(box.home, '.claude.json'), 'utf8'));
    assert.deepEqual(projects[box.project].mcpServers.web.env, { [variable]: 'Bearer s3cret' });
  });
});

test('codex mcp get and list understand a wrapped server and a new one', async (t) => {
  const box = new Sandbox(t);
  const agent = new Codex(box);
  const file = join(box.home, '.codex', 'config.toml');
  await agent.register(server(box));
  const before = readFileSync(file);
  await setup(box, 'codex', '--wrap', 'dev', '--no-watch');
  await setup(box, 'codex', 'new', '--no-watch', '--', ...server(box));
  for (const name of ['dev', 'new']) {
    const { transport } = JSON.parse(await agent.run('mcp', 'get', name, '--json'));
    assert.equal(transport.command, sitterPath());
    // Codex may start a server of all projects anywhere.
    const cwd = name === 'new' ? ['--cwd', box.project] : [];
    assert.deepEqual(transport.args, [...cwd, '--', ...server(box)]);
    await answers(box, [transport.command, ...transport.args]);
  }
  const names = JSON.parse(await agent.run('mcp', 'list', '--json')).map(({ name }) => name);
  assert.deepEqual(names.sort(), ['dev', 'new']);
  await setup(box, 'codex', '--undo', 'dev');
  await setup(box, 'codex', '--undo', 'new');
  assert.deepEqual(readFileSync(file), before);
});

const settings = (box) => ({
  gemini: {
    add: [...gemini(), 'mcp', 'add', '-s', 'user', 'dev', ...server(box)],
    file: join(box.home, '.gemini', 'settings.json'),
    read: ({ mcpServers: { dev } }) => [dev.command, ...dev.args],
  },
  qwen: {
    add: [...qwen(), 'mcp', 'add', '-s', 'user', 'dev', ...server(box)],
    file: join(box.home, '.qwen', 'settings.json'),
    read: ({ mcpServers: { dev } }) => [dev.command, ...dev.args],
  },
  opencode: {
    add: [...opencode(), 'mcp', 'add', 'dev', '--env', 'A=b', '--', ...server(box)],
    file: join(box.home, '.config', 'opencode', 'opencode.jsonc'),
    read: ({ mcp: { dev } }) => dev.command,
  },
  cline: {
    add: [...cline(), 'mcp', 'add', '--yes', 'dev', '--', ...server(box)],
    file: join(box.home, '.cline', 'data', 'settings', 'cline_mcp_settings.json'),
    read: ({ mcpServers: { dev } }) => [dev.transport.command, ...dev.transport.args],
  },
});

// Some of these clients look for their makers' servers first, and wait.
describe('of what the client has written', { concurrency: 4 }, () => {
  for (const client of ['gemini', 'qwen', 'opencode', 'cline']) {
    test(`${client}: a server is wrapped, answers, and comes back; a new one has the same form`, async (t) => {
      const box = new Sandbox(t);
      const { add, file, read } = settings(box)[client];
      await run(box, add, offline);
      const before = readFileSync(file);
      const { dev: own } = serversIn(file);
      await setup(box, client, '--wrap', 'dev', '--no-watch');
      const command = read(JSON.parse(readFileSync(file, 'utf8')));
      assert.deepEqual(command, [sitterPath(), '--', ...server(box)]);
      await answers(box, command);
      await setup(box, client, '--undo', 'dev');
      assert.deepEqual(readFileSync(file), before);

      await setup(box, client, 'new', '--scope', client === 'cline' ? 'cli' : 'user', '--', 'x');
      const { new: made } = serversIn(file);
      assert.deepEqual(shape(made), shape(own));
    });
  }
});

function serversIn(file) {
  const { mcp, mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
  return mcp ?? mcpServers;
}

/** The names of the members, and those inside of `transport`. */
const shape = ({ transport, env, environment, ...members }) => [
  Object.keys(members).sort(),
  transport && Object.keys(transport).sort(),
];

test('opencode mcp list connects to a wrapped server', async (t) => {
  const box = new Sandbox(t);
  const file = join(box.project, 'opencode.jsonc');
  mkdirSync(dirname(file), { recursive: true });
  const entry = JSON.stringify({ type: 'local', command: server(box) });
  const text = `{ // of the project\n  "mcp": {\n    "dev": ${entry},\n  },\n}\n`;
  writeFileSync(file, text);
  await setup(box, 'opencode', '--wrap', 'dev');
  assert.ok(existsSync(`${file}.before-mcp-sitter-dev`));
  const said = await run(box, [...opencode(), 'mcp', 'list'], offline);
  assert.match(said, /✓ .*dev.*connected/);
  await setup(box, 'opencode', '--undo', 'dev');
  // The client has added `$schema` meanwhile, and both this and the comment stay.
  const after = readFileSync(file, 'utf8');
  assert.ok(after.includes('// of the project') && after.includes(`"dev": ${entry},`), after);
});
