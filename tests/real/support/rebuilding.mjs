// Stands between a client and the bridge, and rebuilds the server between two messages: before the
// first tools/call goes on, it calls sitter_kill, and the file `next` becomes the file `plan`.
// Everything else passes unchanged. The lines of both sides are also written to the file `traffic`,
// in the order in which they came.
//
//     rebuilding.mjs traffic next plan bridge...
import { spawn } from 'node:child_process';
import { appendFileSync, renameSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [traffic, next, plan, command, ...args] = process.argv.slice(2);
const bridge = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
bridge.on('close', (code) => process.exit(code ?? 1));
// If the end of the bridge leaves lines unread, the missing answers show it.
bridge.stdin.on('error', () => {});

const record = (line) => appendFileSync(traffic, `${line}\n`);
const killId = 'kill-before-rebuild';
const killed = new Promise((resolve) => {
  createInterface({ input: bridge.stdout }).on('line', (line) => {
    if (JSON.parse(line).id === killId) return resolve();
    record(line);
    process.stdout.write(`${line}\n`);
  });
});

let isRebuilt = false;
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  record(line);
  if (message.method === 'tools/call' && !isRebuilt) {
    // The request has the client's own envelope, so that it is of the client's era.
    const params = { ...message.params, name: 'sitter_kill', arguments: {} };
    bridge.stdin.write(`${JSON.stringify({ ...message, id: killId, params })}\n`);
    await killed;
    renameSync(next, plan);
    isRebuilt = true;
  }
  bridge.stdin.write(`${line}\n`);
}
bridge.stdin.end();
