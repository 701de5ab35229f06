// mcp-sitter doctor in front of real servers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Daemon, everything, sdk2 } from './support/daemon.mjs';
import { server, sitterPath, testsDir, workshop, workshopV2 } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { runToEnd } from './support/wire.mjs';

const plan = JSON.stringify({ tools: [{ name: 'say', does: { answer: 'said' } }] });
const notes = join(dirname(dirname(testsDir)), 'docs', 'examples', 'cli', 'notes.sh');

/** The report about a server, which must be without a problem. */
async function examine(box, ...words) {
  const { status, stdout, stderr } = await runToEnd(box, [
    sitterPath(),
    'doctor',
    '--json',
    ...words,
  ]);
  assert.equal(stderr, '');
  const report = JSON.parse(stdout);
  assert.equal(status, 0, stdout);
  assert.equal(report.opening.opened, true);
  await box.nothingLeft();
  return report;
}

describe('a server that it starts', () => {
  test('server-everything has all lists', async (t) => {
    const box = new Sandbox(t);
    const report = await examine(box, '--', ...server('everything'));
    assert.equal(report.server.name, 'mcp-servers/everything');
    assert.match(report.server.path, /server-everything\/dist\/index\.js$/);
    assert.match(report.server.interpreter, /node$/);
    assert.equal(report.opening.initialize, '2025-11-25');
    assert.ok(report.tools.count >= 10);
    assert.ok(report.lists['prompts/list'].count > 0);
    assert.ok(report.lists['resources/list'].count > 0);
    assert.ok(report.opening.capabilities.includes('resources (subscribe)'));
    assert.equal(report.end.endsAtSigterm, true);
  });

  test('server-filesystem and server-memory have tools', async (t) => {
    const box = new Sandbox(t);
    for (const command of [server('filesystem', box.project), server('memory')]) {
      const report = await examine(box, '--no-environment', '--', ...command);
      assert.ok(report.tools.count > 5);
      assert.ok(report.tools.bytes > 5000);
      assert.equal(report.environment, null);
    }
  });

  test('a program that is no server says why', async (t) => {
    const box = new Sandbox(t);
    const script = box.write('program.mjs', 'console.log("a result"); process.exitCode = 3;');
    const command = [sitterPath(), 'doctor', '--json', '--', process.execPath, script];
    const { status, stdout } = await runToEnd(box, command);
    const { findings, opening } = JSON.parse(stdout);
    const problems = findings.filter(({ level }) => level === 'problem');
    assert.equal(status, 1);
    assert.match(opening.failure, /exit 3/);
    assert.deepEqual(
      problems.map(({ subject }) => subject),
      ['opening', 'stdout'],
    );
    assert.match(problems[1].what, /a result/);
    await box.nothingLeft();
  });

  test('a server on the second SDK speaks both eras', async (t) => {
    const box = new Sandbox(t);
    const file = box.write('plan.json', plan);
    const both = await examine(box, '--no-environment', '--', ...workshopV2(file));
    assert.equal(both.opening.stateless, true);
    assert.equal(both.opening.initialize, '2025-11-25');
    const one = await examine(box, '--no-environment', '--', ...workshop(file));
    assert.equal(one.opening.stateless, false);
    assert.equal(one.tools.count, 1);
  });
});

test('a daemon over HTTP is examined and left alone', async (t) => {
  const box = new Sandbox(t);
  const first = await Daemon.start(box, everything());
  const report = await examine(box, '--http', first.url);
  assert.equal(report.server.kind, 'http');
  assert.equal(report.server.name, 'mcp-servers/everything');
  const second = await Daemon.start(box, sdk2(box.write('plan.json', plan)));
  assert.equal((await examine(box, '--http', second.url)).opening.stateless, true);
  assert.equal((await examine(box, '--http', second.url)).tools.count, 1);
});

test('a daemon that takes its time for the opening is waited for', async (t) => {
  const box = new Sandbox(t);
  const results = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, prompts: {} },
      serverInfo: { name: 'slow', version: '1' },
    },
    'tools/list': { tools: [] },
    'prompts/list': { prompts: [] },
  };
  const daemon = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { id, method } = body === '' ? {} : JSON.parse(body);
    // Longer than an absent daemon is waited for.
    if (method === 'initialize') await setTimeout(4000);
    response.setHeader('Content-Type', 'application/json');
    response.statusCode = id === undefined ? 202 : 200;
    const error = { code: -32601, message: 'no such method' };
    const answer = results[method] ? { result: results[method] } : { error };
    response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  daemon.listen(0, '127.0.0.1');
  t.after(() => daemon.close());
  await once(daemon, 'listening');
  const url = `http://127.0.0.1:${daemon.address().port}/mcp`;
  const report = await examine(box, '--http', url);
  assert.equal(report.server.name, 'slow');
  assert.equal(report.lists['prompts/list'].count, 0);
});

test('a command-line tool is examined', async (t) => {
  const report = await examine(new Sandbox(t), '--cli', notes);
  assert.equal(report.server.kind, 'cli');
  assert.equal(report.tools.count, 2);
  assert.equal(report.environment.opensWithShort, true);
});
