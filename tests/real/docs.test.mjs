// README and docs: each command that they show is run, and a session is played with the server that it starts. Commands
// of agents are run in agents/docs.test.mjs.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { commandsIn, isForm, pages, projectDir, textOf } from './support/documents.mjs';
import { Place, kinds, testCommands } from './support/shown_commands.mjs';

const charactersMax = { 'CONTRIBUTING.md': 7000, 'docs/architecture.md': 12_000 };
const isShort = (page) => {
  const count = [...textOf(page)].length;
  assert.ok(count < (charactersMax[page] ?? 9000), `${count}`);
};

for (const page of pages()) {
  describe(page, () => {
    for (const line of new Set(commandsIn(page).filter(isForm))) {
      test(`knows the options of: ${line}`, async (t) => {
        const place = new Place(t);
        const help = await place.run('mcp-sitter help');
        const [, command] = line.match(/^mcp-sitter ([a-z]+)/) ?? [];
        const known = command ? await place.run(`mcp-sitter ${command} --help`) : help;
        for (const [option] of line.matchAll(/(?<= |\[)--[a-z-]+/g)) {
          assert.match(known, new RegExp(`${option}\\b`));
        }
      });
    }

    testCommands(page, false);

    test('is short', () => isShort(page));

    test('links only to what is there', () => {
      for (const [, target] of textOf(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
        assert.ok(existsSync(join(projectDir, dirname(page), target)), target);
      }
    });
  });
}

test('the pages show commands of each kind', () => {
  const all = pages().flatMap(commandsIn);
  for (const [pattern] of kinds) assert.ok(all.some((line) => pattern.test(line)), `${pattern}`);
});

test('CONTRIBUTING.md is short', () => isShort('CONTRIBUTING.md'));

test('docs/README.md names every page', () => {
  const contents = textOf('docs/README.md');
  for (const page of pages().slice(1)) {
    const name = page.replace('docs/', '');
    assert.ok(name === 'README.md' || contents.includes(`(${name})`), name);
  }
});
