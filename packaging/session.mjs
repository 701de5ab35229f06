// Plays a session through mcp-sitter: a call, a kill, another call. "node packaging/session.mjs COMMAND..." plays it
// through this command, and says what went wrong.
import assert from 'node:assert/strict';
import { tinyServer } from '../tests/package/places.mjs';
import { Session } from '../tests/package/session.mjs';
import { isMain } from './version.mjs';

/** Starts mcp-sitter with these words before the server, and returns what the model reads after the kill. */
export async function playSession(command, words = []) {
  const endings = [];
  try {
    const session = await Session.open({ after: (end) => endings.push(end) }, [command, ...words, '--', ...tinyServer]);
    assert.equal(session.opening.serverInfo.name, 'tiny');
    assert.equal(await session.call('greet'), 'hello');
    await session.call('sitter_kill');
    const told = await session.call('greet');
    assert.match(told, /^\[mcp-sitter\] server restarted \(spawn #2, [^\n]* previous: killed by sitter_kill/);
    assert.match(told, /hello$/);
    await session.close();
    return told;
  } finally {
    endings.forEach((end) => end());
  }
}

if (isMain(import.meta.url)) {
  const [command, ...words] = process.argv.slice(2);
  if (command === undefined) {
    console.error('session: say the command that starts mcp-sitter');
    process.exitCode = 2;
  } else {
    console.log(await playSession(command, words));
  }
}
