// README and the pages of docs, and the commands that they show.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { testsDir } from './programs.mjs';

export const projectDir = join(testsDir, '..', '..');

const programs = /^([A-Z_]+=\S+ )?(mcp-sitter|claude|codex|gemini|npm|npx|node|git|kill|cmake|curl|sh|\.\/dev) /;

/** README.md and the pages of docs, by their paths in the project. */
export function pages() {
  const docs = readdirSync(join(projectDir, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...docs.map((name) => `docs/${name}`)];
}

export const textOf = (page) => readFileSync(join(projectDir, page), 'utf8');

/** The lines of indented code, with the lines joined that a backslash divides. */
function codeLines(text) {
  const lines = [];
  let isFenced = false;
  let goesOn = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isFenced = !isFenced;
    if (isFenced || !line.startsWith('    ')) continue;
    const code = line.trim().replace(/\\$/, '');
    if (goesOn) lines[lines.length - 1] += code;
    else lines.push(code);
    goesOn = line.endsWith('\\');
  }
  return lines;
}

/** A form of a command line, with words in capitals or brackets for what the user chooses. */
export const isForm = (command) => /\[|\b(COMMAND|TOOL|URL|TOPIC|SHELL|NAME|CLIENT)\b(?!=)/.test(command);

/** The commands of a page, without comments. */
export function commandsIn(page) {
  const text = textOf(page);
  const commands = codeLines(text)
    .filter((line) => programs.test(line))
    .map((line) => line.replace(/ +# .*$/, ''));
  // A table of languages shows options and the command of a server.
  for (const [, command] of text.matchAll(/^\| [^|]* \| `(--(?:watch|build) [^`]*)` \|$/gm)) {
    commands.push(`mcp-sitter ${command}`);
  }
  return commands;
}
