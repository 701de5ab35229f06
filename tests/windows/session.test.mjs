// Sessions of the official client on this system, through the pipes of wine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sitterPath } from '../real/support/programs.mjs';
import { textOf } from '../real/support/session.mjs';
import { runToEnd } from '../real/support/wire.mjs';
import { inProject, open, projectOf } from './support.mjs';

const tools = (...names) =>
  JSON.stringify(names.map((name) => ({ name, inputSchema: { type: 'object' } })));
const write = (box, name, text) => box.write(`project/${name}`, text);

test('a server is killed, comes back with another tool, and the client is told', async (t) => {
  const box = projectOf(t);
  write(box, 'tools.json', tools('echo'));
  const session = await open(box, ['./server.exe', '--tools', 'tools.json']);
  assert.ok((await session.toolNames()).includes('echo'));
  await session.call('sitter_kill');
  write(box, 'tools.json', tools('echo', 'find'));
  const text = textOf(await session.call('echo', { text: 'again' }));
  assert.match(text, /server restarted \(spawn #2.*killed by sitter_kill.*\+1 added \(find\)/);
  assert.match(text, /again$/);
  await session.notified('notifications/tools/list_changed');
  assert.ok((await session.toolNames()).includes('find'));
});

test('ten megabytes pass in both directions', async (t) => {
  const box = projectOf(t);
  const session = await open(box, ['./server.exe']);
  // No byte is translated, and a letter of several bytes may be anywhere.
  const text = 'ten megabytes\r\n\u00e4\u20ac\ud83d\ude00'.repeat(385_000);
  assert.equal(textOf(await session.call('echo', { text })), text);
});

test('a save is noticed', async (t) => {
  const box = projectOf(t);
  write(box, 'tools.json', tools('echo'));
  const watch = ['--watch', '*.json', '--debounce', '30'];
  const session = await open(box, ['./server.exe', '--tools', 'tools.json'], watch);
  // Editors write another file and rename it.
  write(box, 'tools.json', tools('echo', 'find'));
  await session.notified('notifications/tools/list_changed');
  const { watch: seen } = await session.status();
  assert.deepEqual(seen.lastTrigger.files, [`Z:${inProject(box, 'tools.json')}`]);
});

test('a second process lists, reloads and kills the server', async (t) => {
  const box = projectOf(t);
  const session = await open(box, ['./server.exe'], ['--name', 'second-process']);
  const ctl = async (...words) => {
    const { status, stdout, stderr } = await runToEnd(box, [sitterPath(), 'ctl', ...words]);
    assert.equal(status, 0, stderr);
    return stdout;
  };
  // The bridge listens after the first answer.
  await session.status();
  assert.match(await ctl('list'), /second-process/);
  assert.match(await ctl('reload', 'second-process'), /spawn #2/);
  assert.match(textOf(await session.call('echo', { text: 'a' })), /spawn #2/);
  await session.call('stderr', { text: 'last words' });
  assert.match(await ctl('stderr', 'second-process'), /last words/);
  await ctl('kill', 'second-process');
  assert.equal((await session.status()).childAlive, false);
});
