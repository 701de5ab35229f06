// A command-line tool of some of these commands.
import { sitterPath } from './programs.mjs';

const integer = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };
const commands = {
  say: { does: 'printf "%s" "$2"', words: ['--', '{text}'] },
  count: { does: 'printf \'{"n": %s}\' "${#2}"', words: ['--', '{text}'], outputSchema: integer },
  lie: { does: 'echo \'{"n": "many"}\'', outputSchema: integer },
  fail: { does: 'echo "the disk is full" >&2; exit 3' },
  added: { does: 'echo just written' },
};

/** Writes a tool with these commands. Returns the command line that serves it. */
export function toolWith(box, ...names) {
  const tools = names.map((name) => {
    const { words = [], outputSchema } = commands[name];
    const parameters = { type: 'object', properties: { text: { type: 'string' } } };
    return { name, parameters, outputSchema, cli_command: [name, ...words] };
  });
  const cases = names.map((name) => `${name}) shift; ${commands[name].does} ;;`);
  const script = [
    '#!/bin/sh',
    'case $1 in',
    `schema) cat <<'JSON'\n${JSON.stringify({ tools })}\nJSON\n;;`,
    ...cases,
    'esac',
  ].join('\n');
  return [sitterPath(), '--cli', box.write('tool.sh', script, 0o755)];
}
