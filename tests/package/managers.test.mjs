// mcp-sitter installed from a registry on loopback by the package managers beside npm, as their users do it: the command
// runs, carries a session over a kill, and is gone after it was removed. For npm, reinstall.test.mjs does the same.
import assert from 'node:assert/strict';
import { lstatSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Newcomer } from './newcomer.mjs';
import { packed, tinyServer } from './places.mjs';
import { Registry } from './registry.mjs';
import { Session } from './session.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'managers/node_modules');

let registry;
before(async () => {
  registry = await Registry.start(packed);
});
after(() => registry.close());

const script = (path) => `exec '${process.execPath}' '${join(modules, path)}' "$@"`;
const binary = (path) => `exec '${join(modules, path)}' "$@"`;

// `bin` is where the manager puts commands, and `runs` how its users call them if not by their name.
const managers = {
  pnpm: {
    programs: { pnpm: binary('@pnpm/exe.linux-x64/pnpm') },
    env: (user) => ({
      PNPM_HOME: user.path('pnpm'),
      pnpm_config_registry: registry.url,
      pnpm_config_store_dir: user.path('cache/pnpm'),
    }),
    install: 'pnpm add -g mcp-sitter-native',
    remove: 'pnpm remove -g mcp-sitter-native',
    bin: 'pnpm/bin',
  },
  'Yarn 1': {
    programs: { yarn: script('yarn/bin/yarn.js') },
    env: (user) => ({
      YARN_CACHE_FOLDER: user.path('cache/yarn'),
      // For root, the default is a folder of the system.
      YARN_GLOBAL_FOLDER: user.path('yarn'),
      YARN_REGISTRY: registry.url,
    }),
    install: 'yarn global add mcp-sitter-native',
    remove: 'yarn global remove mcp-sitter-native',
    bin: 'prefix/bin',
  },
  'Yarn with PnP': {
    programs: { yarn: script('@yarnpkg/cli-dist/bin/yarn.js') },
    env: (user) => ({
      YARN_ENABLE_TELEMETRY: '0',
      YARN_GLOBAL_FOLDER: user.path('cache/yarn'),
      YARN_NPM_REGISTRY_SERVER: registry.url,
      YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    }),
    install: 'yarn init && yarn add mcp-sitter-native',
    remove: 'yarn remove mcp-sitter-native',
    runs: 'yarn mcp-sitter',
  },
  Bun: {
    programs: { bun: binary('@oven/bun-linux-x64/bin/bun') },
    env: (user) => ({ BUN_INSTALL: user.path('bun'), BUN_INSTALL_CACHE_DIR: user.path('cache/bun') }),
    install: 'bun add -g mcp-sitter-native',
    remove: 'bun remove -g mcp-sitter-native',
    bin: 'bun/bin',
  },
  Deno: {
    programs: { deno: binary('@deno/linux-x64-glibc/deno') },
    env: (user) => ({
      DENO_DIR: user.path('cache/deno'),
      DENO_INSTALL_ROOT: user.path('deno'),
      DENO_NO_UPDATE_CHECK: '1',
      NPM_CONFIG_REGISTRY: registry.url,
    }),
    install: 'deno install -g -A npm:mcp-sitter-native',
    remove: 'deno uninstall -g mcp-sitter',
    bin: 'deno/bin',
  },
};

/** Every file below the user's folders that is about mcp-sitter, but in those for caches and in `bin`, which is ours. */
function tracesIn(user) {
  const isTrace = (path) =>
    path.includes('mcp-sitter') ||
    (lstatSync(user.path(path)).isFile() && readFileSync(user.path(path)).includes('mcp-sitter'));
  const all = readdirSync(user.root, { recursive: true }).filter((path) => !/^(bin|cache|tmp)\b/.test(path));
  return all.filter(isTrace);
}

for (const [name, manager] of Object.entries(managers)) {
  test(name, async (t) => {
    const { programs = {}, env = () => ({}), install, remove, bin, runs = 'mcp-sitter' } = manager;
    const user = new Newcomer(t, registry);
    Object.assign(user.env, env(user));
    if (bin) user.env.PATH = `${user.path(bin)}:${user.env.PATH}`;
    for (const [program, line] of Object.entries(programs)) {
      writeFileSync(user.path(`bin/${program}`), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    }

    await user.run(install);
    if (bin) assert.equal((await user.run(`command -v ${runs}`)).trim(), user.path(`${bin}/mcp-sitter`));
    assert.match(await user.run(`${runs} --version`), /^mcp-sitter \d/);
    const program = (await user.run(`${runs} --where`)).trim();
    assert.ok(program.startsWith(user.root) && statSync(program).isFile(), program);

    const line = `exec ${runs} -- ${tinyServer.map((word) => `'${word}'`).join(' ')}`;
    const session = await Session.open(t, ['/bin/sh', '-c', line], { env: user.env, cwd: user.path('project') });
    await session.call('sitter_kill');
    assert.match(await session.call('greet'), /^\[mcp-sitter\] server restarted \(spawn #2, [^]*hello$/);
    await session.close();

    await user.run(remove);
    assert.notEqual((await user.tries(`${runs} --version`)).code, 0);
    assert.deepEqual(tracesIn(user), []);
  });
}
