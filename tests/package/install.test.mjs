// A new user's first minute: the commands of README that install mcp-sitter, from a registry on
// loopback; then a server that is registered already gets mcp-sitter before it, is rebuilt, and the
// model's next result says so.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandsIn, projectDir } from '../real/support/documents.mjs';
import { claude } from '../real/support/programs.mjs';
import { Newcomer } from './newcomer.mjs';
import { packed } from './places.mjs';
import { Registry } from './registry.mjs';
import { Session } from './session.mjs';

const here = dirname(fileURLToPath(import.meta.url));

let registry;
before(async () => {
  registry = await Registry.start(packed);
});
after(() => registry.close());

const installing = new Set(
  [...commandsIn('README.md'), ...commandsIn('docs/installing.md')].filter((line) =>
    /^(npm install|npx|\.\/dev package)/.test(line),
  ),
);

test('The documents install with npm, with npx and from tarballs', () => {
  for (const pattern of [/^npm install -g mcp-sitter-native$/, /^npx -y /, /^\.\/dev package && /]) {
    assert.ok([...installing].some((line) => pattern.test(line)), `${pattern}`);
  }
});

for (const line of installing) {
  test(line, async (t) => {
    const user = new Newcomer(t, registry);
    // What `./dev package` makes is what these tests install.
    const said = await user.run(line.replace(/^\.\/dev package && /, ''), projectDir);
    if (line.startsWith('npx')) {
      assert.match(said, /^mcp-sitter \d/m);
    } else {
      assert.match(await user.run('mcp-sitter --version'), /^mcp-sitter \d/);
    }
  });
}

test('a minute: install, see README with its picture and the manual page, wrap, call, rebuild, notice', async (t) => {
  const user = new Newcomer(t, registry);
  const { env } = user;
  const path = (name) => user.path(name);
  const run = (line) => user.run(line);
  const client = { ...env, DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  assert.ok(existsSync(claude()[0]), 'Claude Code is not installed in tests/real/agents');
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
  const own = path('prefix/lib/node_modules/mcp-sitter-native');
  const readme = readFileSync(join(own, 'README.md'), 'utf8');
  assert.equal(readme, readFileSync(join(projectDir, 'README.md'), 'utf8'));
  const [, picture] = readme.match(/!\[[^\]]*\]\(([^)]*)\)/);
  assert.deepEqual(readFileSync(join(own, picture)), readFileSync(join(projectDir, picture)));
  assert.match(readFileSync(path('prefix/share/man/man1/mcp-sitter.1'), 'utf8'), /^\.TH MCP/);

  await run('npm run build && claude mcp add notes -- node dist/server.mjs');
  await run('mcp-sitter setup claude --wrap notes');

  const registered = JSON.parse(readFileSync(path('home/.claude.json'), 'utf8'));
  const { command, args } = registered.projects[path('project')].mcpServers.notes;
  const session = await Session.open(t, [command, ...args], { env, cwd: path('project') });
  assert.equal(await session.call('greet'), 'hello');
  const source = readFileSync(path('project/src/server.mjs'), 'utf8');
  writeFileSync(path('project/src/server.mjs'), source.replaceAll('greet', 'welcome'));
  assert.match(
    await session.call('sitter_rebuild'),
    /the build succeeded[^]*server restarted \(spawn #2[^]*\+1 added \(welcome\), -1 removed \(greet\)/,
  );
  assert.match(await session.call('welcome'), /hello$/);
  await session.close();

  await run('mcp-sitter setup claude --undo notes');
  const { projects } = JSON.parse(readFileSync(path('home/.claude.json'), 'utf8'));
  assert.equal(projects[path('project')].mcpServers.notes.command, 'node');
});
