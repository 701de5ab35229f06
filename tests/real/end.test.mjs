// How clients end their servers. Nothing is left behind, whatever the server is wrapped in.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  fakeMcpPath,
  server,
  sitterPath,
  sitting,
  testsDir,
  workshop,
} from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Wire } from './support/wire.mjs';

/** Sends each signal at its time in milliseconds, as long as the program lives. */
function schedule(box, wire, signals) {
  for (const [after, signal] of signals) {
    const timer = setTimeout(() => wire.process.kill(signal), after);
    box.atEnd(() => clearTimeout(timer));
  }
}

const endings = {
  'as Claude Code does it: SIGINT, SIGTERM 0.1 s and SIGKILL 0.5 s later': (box, wire) =>
    schedule(box, wire, [
      [0, 'SIGINT'],
      [100, 'SIGTERM'],
      [500, 'SIGKILL'],
    ]),
  'as Codex does it: SIGTERM, SIGKILL 13 ms later': (box, wire) =>
    schedule(box, wire, [
      [0, 'SIGTERM'],
      [13, 'SIGKILL'],
    ]),
  'as the official SDK does it: end of input': (box, wire) => wire.process.stdin.end(),
  'by SIGKILL alone': (box, wire) => wire.process.kill('SIGKILL'),
  'by closing its output': (box, wire) => wire.process.stdout.destroy(),
};

const wrappings = {
  'node server.js': () => server('everything'),
  "sh -c 'node server.js'": () => ['/bin/sh', '-c', '"$@"; exit $?', 'sh', ...server('everything')],
  // npx needs no network in the directory that holds the package.
  'npx server': () => ['npx', '--offline', '--no', 'mcp-server-everything'],
  'a server that ignores everything, with a grandchild that does too': () => [
    fakeMcpPath(),
    ...['--ignore-eof', '--ignore-term', '--grandchild'],
  ],
  'the same in a shell': () => [
    ...['/bin/sh', '-c', '"$@"; exit $?', 'sh', fakeMcpPath()],
    ...['--ignore-eof', '--ignore-term', '--grandchild'],
  ],
};

for (const [ending, end] of Object.entries(endings)) {
  describe(ending, () => {
    for (const [wrapping, command] of Object.entries(wrappings)) {
      test(wrapping, async (t) => {
        const box = new Sandbox(t);
        const wire = new Wire(box, sitting(command()), { cwd: testsDir });
        await wire.open();
        await wire.request(1, 'tools/list');
        assert.ok(box.processes().length > 1);

        end(box, wire);
        await wire.exit();
        await box.nothingLeft();
      });
    }
  });
}

describe('in the middle of', () => {
  test('a call: nothing is left', async (t) => {
    const box = new Sandbox(t);
    const plan = box.write('plan.json', '{"tools":[{"name":"stall","does":{"waits":true}}]}');
    const wire = new Wire(box, sitting(workshop(plan)));
    await wire.open();
    wire.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'stall' } });
    await wire.stderr.find((line) => line === 'stall waits', 'the call');

    wire.process.kill('SIGTERM');
    assert.equal(await wire.exit(), 128 + 15);
    await box.nothingLeft();
  });

  test('the opening of a server that hangs: nothing is left', async (t) => {
    const box = new Sandbox(t);
    const script = 'echo hangs >&2; exec sleep 600';
    const wire = new Wire(box, sitting(['/bin/sh', '-c', script]));
    wire.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    await wire.stderr.find((line) => line === 'hangs', 'the server');

    wire.process.kill('SIGINT');
    assert.equal(await wire.exit(), 128 + 2);
    await box.nothingLeft();
  });

  test('an idle session: the bridge ends with its input', async (t) => {
    const box = new Sandbox(t);
    const wire = new Wire(box, sitting(server('everything')));
    assert.equal(await wire.end(), 0);
    await box.nothingLeft();
  });
});

describe('sitter_kill leaves nothing of the former server behind:', () => {
  for (const [wrapping, command] of Object.entries(wrappings)) {
    test(wrapping, async (t) => {
      const box = new Sandbox(t);
      const wire = new Wire(box, sitting(command()), { cwd: testsDir });
      await wire.open();
      await wire.request(1, 'tools/list');

      // Other tests may run the same executable.
      const call = { name: 'sitter_kill', arguments: { scope: 'child' } };
      await wire.request(2, 'tools/call', call);
      const left = box.processes().filter((process) => !process.command.startsWith(sitterPath()));
      assert.deepEqual(left, []);

      await wire.request(3, 'tools/list');
      assert.equal(await wire.end(), 0);
      await box.nothingLeft();
    });
  }
});

test('printf | mcp-sitter: every answer is printed', async (t) => {
  const box = new Sandbox(t);
  const wire = new Wire(box, sitting(server('everything')));
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'printf', version: '1' },
  };
  const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 1 } };
  wire.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  wire.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  wire.send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: call });
  assert.equal(await wire.end(), 0);
  const ids = wire.lines.items.map((line) => JSON.parse(line).id).filter((id) => id !== undefined);
  assert.deepEqual(ids, [1, 2, 3]);
  await box.nothingLeft();
});
