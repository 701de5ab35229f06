// A new user's first minute: the commands of README that install mcp-sitter, from a registry on
// loopback; then a server that is registered already gets mcp-sitter before it, is rebuilt, and the
// model's next result says so.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandsIn, projectDir } from '../real/support/documents.mjs';
import { claude } from '../real/support/programs.mjs';
import { Registry } from './registry.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const packed = resolve(here, '../../build/package');

let registry;
before(async () => {
  registry = await Registry.start(packed);
});
after(() => registry.close());

/** An empty HOME and prefix, and the environment of a user who has nothing but Node.js. */
function newcomer(t) {
  const root = mkdtempSync(join(tmpdir(), 'sitter-newcomer-'));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const path = (name) => join(root, name);
  for (const name of ['home', 'project', 'bin']) mkdirSync(path(name));
  const env = {
    HOME: path('home'),
    TMPDIR: root,
    PATH: [path('prefix/bin'), path('bin'), process.env.PATH].join(':'),
    LANG: 'C.UTF-8',
    npm_config_prefix: path('prefix'),
    npm_config_registry: registry.url,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  const run = async (line, cwd = path('project')) => {
    const shell = spawn('/bin/sh', ['-c', line], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    shell.stdout.on('data', (data) => (said += data));
    shell.stderr.on('data', (data) => (said += data));
    const [code] = await once(shell, 'close');
    assert.equal(code, 0, `${line}\n${said}`);
    return said;
  };
  return { path, env, run };
}

const installing = commandsIn('README.md').filter((line) => /^(npm|npx|\.\/dev package)/.test(line));

test('README installs with npm, with npx and from tarballs', () => {
  for (const pattern of [/^npm install -g mcp-sitter-native$/, /^npx -y /, /^\.\/dev package && /]) {
    assert.ok(installing.some((line) => pattern.test(line)), `${pattern}`);
  }
});

for (const line of installing) {
  test(line, async (t) => {
    const { run } = newcomer(t);
    // What `./dev package` makes is what these tests install.
    const said = await run(line.replace(/^\.\/dev package && /, ''), projectDir);
    if (line.startsWith('npx')) {
      assert.match(said, /^mcp-sitter \d/m);
    } else {
      assert.match(await run('mcp-sitter --version'), /^mcp-sitter \d/);
    }
  });
}

test('the package shows README with its picture, and has the manual page', async (t) => {
  const { run, path } = newcomer(t);
  await run('npm install -g mcp-sitter-native');
  const own = path('prefix/lib/node_modules/mcp-sitter-native');
  const readme = readFileSync(join(own, 'README.md'), 'utf8');
  assert.equal(readme, readFileSync(join(projectDir, 'README.md'), 'utf8'));
  const [, picture] = readme.match(/!\[[^\]]*\]\(([^)]*)\)/);
  assert.deepEqual(readFileSync(join(own, picture)), readFileSync(join(projectDir, picture)));
  assert.match(readFileSync(path('prefix/share/man/man1/mcp-sitter.1'), 'utf8'), /^\.TH MCP/);
});

test('a minute: install, wrap, call, rebuild, notice', async (t) => {
  const { run, path, env } = newcomer(t);
  const client = { ...env, DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  assert.ok(existsSync(claude()[0]), 'Claude Code is not installed in tests/real');
  writeFileSync(path('bin/claude'), `#!/bin/sh\nexec '${claude()[0]}' "$@"\n`, { mode: 0o755 });
  mkdirSync(path('project/src'));
  mkdirSync(path('project/dist'));
  writeFileSync(
    path('project/package.json'),
    JSON.stringify({ scripts: { build: 'cp src/server.mjs dist/server.mjs' } }),
  );
  copyFileSync(join(here, 'tiny_server.mjs'), path('project/src/server.mjs'));
  Object.assign(env, client);

  await run('npm install -g mcp-sitter-native');
  await run('npm run build && claude mcp add notes -- node dist/server.mjs');
  await run('mcp-sitter setup claude --wrap notes');

  const registered = JSON.parse(readFileSync(path('home/.claude.json'), 'utf8'));
  const { command, args } = registered.projects[path('project')].mcpServers.notes;
  const server = spawn(command, args, { env, cwd: path('project'), stdio: 'pipe' });
  t.after(() => server.kill());
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  let lastId = 0;
  const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (method, params = {}) => {
    const id = ++lastId;
    send({ id, method, params });
    for (;;) {
      const { value, done } = await lines.next();
      assert.ok(!done, `no answer to ${method}`);
      const message = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  };
  const call = async (name) =>
    (await ask('tools/call', { name, arguments: {} })).content.map((block) => block.text).join('\n');

  await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'minute', version: '1' },
  });
  send({ method: 'notifications/initialized' });
  assert.equal(await call('greet'), 'hello');
  const source = readFileSync(path('project/src/server.mjs'), 'utf8');
  writeFileSync(path('project/src/server.mjs'), source.replaceAll('greet', 'welcome'));
  assert.match(
    await call('sitter_rebuild'),
    /the build succeeded[^]*server restarted \(spawn #2[^]*\+1 added \(welcome\), -1 removed \(greet\)/,
  );
  assert.match(await call('welcome'), /hello$/);
  server.stdin.end();
  assert.deepEqual(await once(server, 'close'), [0, null]);

  await run('mcp-sitter setup claude --undo notes');
  const { projects } = JSON.parse(readFileSync(path('home/.claude.json'), 'utf8'));
  assert.equal(projects[path('project')].mcpServers.notes.command, 'node');
});
