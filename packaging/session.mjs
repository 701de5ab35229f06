// Plays a session through mcp-sitter: a call, a kill, another call. "node packaging/session.mjs COMMAND..." plays it
// through this command, and says what went wrong.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isMain, root } from './version.mjs';

const server = [process.execPath, join(root, 'tests/package/tiny_server.mjs')];

/** Starts mcp-sitter with these words before the server, and returns what the model reads after the kill. */
export async function playSession(command, words = []) {
  const bridge = spawn(command, [...words, '--', ...server], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(bridge, 'close');
  const lines = createInterface({ input: bridge.stdout })[Symbol.asyncIterator]();
  const send = (message) => bridge.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let lastId = 0;
  const ask = async (method, params) => {
    const id = ++lastId;
    send({ id, method, params });
    for (;;) {
      const { value, done } = await lines.next();
      assert.ok(!done, `${command} ended before it answered ${method}`);
      const message = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  };
  const call = async (name) => {
    const { content } = await ask('tools/call', { name, arguments: {} });
    return content.map(({ text }) => text).join('\n');
  };

  try {
    const { serverInfo } = await ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'release', version: '1' },
    });
    assert.equal(serverInfo.name, 'tiny');
    send({ method: 'notifications/initialized' });
    assert.equal(await call('greet'), 'hello');
    await call('sitter_kill');
    const told = await call('greet');
    assert.match(told, /^\[mcp-sitter\] server restarted \(spawn #2, [^\n]* previous: killed by sitter_kill/);
    assert.match(told, /hello$/);
    bridge.stdin.end();
    assert.deepEqual(await ended, [0, null]);
    return told;
  } finally {
    bridge.kill();
  }
}

if (isMain(import.meta.url)) console.log(await playSession(process.argv[2], process.argv.slice(3)));
