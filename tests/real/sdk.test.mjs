// The bridge between the official client and the reference servers.
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { server, sitting, workshop } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Session, textOf } from './support/session.mjs';

const sitterTools = ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'];
const listChanged = 'notifications/tools/list_changed';

const tool = (name, does, more) => ({ name, does, ...more });
const planOf = (...tools) => JSON.stringify({ tools });

describe('a session passes', () => {
  test('with server-everything: tools, resources, templates, prompts and completion', async (t) => {
    const box = new Sandbox(t);
    const { client, ...session } = await Session.open(box, sitting(server('everything')));

    assert.equal(client.getServerVersion().name, 'mcp-servers/everything');
    assert.match(client.getInstructions(), /sitter_/);
    assert.equal(client.getServerCapabilities().tools.listChanged, true);
    await client.ping();
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(tools.includes('echo'));
    assert.deepEqual(tools.slice(-4), sitterTools);

    const echo = await client.callTool({ name: 'echo', arguments: { message: 'žluť ✓ \u2028' } });
    assert.deepEqual(echo.content, [{ type: 'text', text: 'Echo: žluť ✓ \u2028' }]);
    const weather = await client.callTool({
      name: 'get-structured-content',
      arguments: { location: 'Chicago' },
    });
    assert.equal(typeof weather.structuredContent.temperature, 'number');
    const image = await client.callTool({ name: 'get-tiny-image', arguments: {} });
    assert.equal(image.content[1].type, 'image');
    const wrong = await client.callTool({ name: 'get-sum', arguments: { a: 'one' } });
    assert.equal(wrong.isError, true);

    const { resources } = await client.listResources();
    assert.ok(resources.length > 0);
    const read = await client.readResource({ uri: resources[0].uri });
    assert.equal(read.contents[0].uri, resources[0].uri);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(resourceTemplates.length > 0);
    const { prompts } = await client.listPrompts();
    const prompt = await client.getPrompt({
      name: 'args-prompt',
      arguments: { city: 'Brno', state: 'CZ' },
    });
    assert.match(prompt.messages[0].content.text, /Brno/);
    assert.ok(prompts.some(({ name }) => name === 'args-prompt'));
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' },
    });
    assert.deepEqual(completion.values, ['Engineering']);
    await assert.rejects(client.readResource({ uri: 'demo://nowhere/1' }), { code: -32602 });
    assert.equal(session.transport.pid > 0, true);
  });

  test('with server-filesystem: files are written and read', async (t) => {
    const box = new Sandbox(t);
    const { client } = await Session.open(box, sitting(server('filesystem', box.project)));
    const path = join(box.project, 'a "quoted" näme.txt');

    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name).slice(-4),
      sitterTools,
    );
    const text = 'line 1\r\nline 2\t\u0001\u{1F600}\n'.repeat(5000);
    await client.callTool({ name: 'write_file', arguments: { path, content: text } });
    const read = await client.callTool({ name: 'read_text_file', arguments: { path } });
    assert.equal(read.content[0].text, text);
    const denied = await client.callTool({
      name: 'read_text_file',
      arguments: { path: '/etc/passwd' },
    });
    assert.equal(denied.isError, true);
    assert.match(textOf(denied), /Access denied/);
  });

  test('with server-memory: the graph outlives the server', async (t) => {
    const box = new Sandbox(t);
    const env = { MEMORY_FILE_PATH: box.path('graph.jsonl') };
    const session = await Session.open(box, sitting(server('memory')), { env });
    const entity = { name: 'Ada', entityType: 'person', observations: ['wrote a program'] };

    assert.deepEqual((await session.toolNames()).slice(-4), sitterTools);
    await session.call('create_entities', { entities: [entity] });
    await session.call('sitter_kill');
    const graph = await session.call('read_graph');
    assert.deepEqual(graph.structuredContent.entities, [entity]);
  });

  test('questions of the server: sampling, elicitation and roots', async (t) => {
    const box = new Sandbox(t);
    const session = await Session.open(box, sitting(server('everything')), {
      capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } },
      handlers: [
        [
          CreateMessageRequestSchema,
          ({ params }) => ({
            role: 'assistant',
            model: 'a-model',
            content: { type: 'text', text: `sampled ${params.messages[0].content.text}` },
          }),
        ],
        [ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Grace' } })],
        [
          ListRootsRequestSchema,
          () => ({ roots: [{ uri: 'file:///srv/root', name: 'the root' }] }),
        ],
      ],
    });
    const ask = async () => {
      const sampled = await session.call('trigger-sampling-request', { prompt: 'tell me' });
      assert.match(textOf(sampled), /sampled Resource trigger-sampling-request context: tell me/);
      assert.match(textOf(await session.call('trigger-elicitation-request')), /Grace/);
      assert.match(textOf(await session.call('get-roots-list')), /file:\/\/\/srv\/root/);
    };

    await session.notified(listChanged);
    await ask();
    // A new server counts the ids of its requests from the start again.
    await session.call('sitter_kill');
    await ask();
  });

  test('progress: the answer does not swallow it, however fast the server is', async (t) => {
    const box = new Sandbox(t);
    const plan = box.write('plan.json', planOf(tool('burst', { progress: 60, answer: 'done' })));
    const slow = await Session.open(box, sitting(server('everything')));
    const fast = await Session.open(box, sitting(workshop(plan)));
    const progressOf = async (session, name, args) => {
      const seen = [];
      await session.call(name, args, { onprogress: ({ progress }) => seen.push(progress) });
      return seen;
    };
    const all = Array.from({ length: 60 }, (_, index) => index + 1);
    const isComplete = async (...call) => isDeepStrictEqual(await progressOf(...call), all);
    // The client loses callbacks if it reads the answer together with progress. The bridge leaves a
    // gap between the two, but a client that gets no processor time during the gap does not see it.
    // With the gap, the client loses no callbacks on an idle machine and half of them on a busy
    // machine. Without the gap, it loses nearly all.
    const completeMin = 10;
    let complete = 0;
    for (let round = 0; round < 100 && complete < completeMin; ++round) {
      complete += await isComplete(fast, 'burst');
    }
    assert.equal(complete, completeMin);

    const slowly = { duration: 0.06, steps: 60 };
    let isWhole = false;
    for (let round = 0; round < 20 && !isWhole; ++round) {
      isWhole = await isComplete(slow, 'trigger-long-running-operation', slowly);
    }
    assert.ok(isWhole);
  });

  test('a cancellation: the server hears of it and the session goes on', async (t) => {
    const box = new Sandbox(t);
    const plan = box.write('plan.json', planOf(tool('stall', { waits: true }), tool('echo')));
    const session = await Session.open(box, sitting(workshop(plan)));
    const cancel = new AbortController();

    const call = session.call('stall', {}, { signal: cancel.signal });
    call.catch(() => {});
    await session.stderr.find((line) => line === 'stall waits', 'the call');
    cancel.abort('no longer needed');
    await assert.rejects(call, /no longer needed/);
    await session.stderr.find((line) => line === 'stall was cancelled', 'the cancellation');
    assert.equal(textOf(await session.call('echo', { n: 1 })), '{"n":1}');
  });

  test('log messages: the level that the client set holds', async (t) => {
    const box = new Sandbox(t);
    const { client, ...session } = await Session.open(box, sitting(server('everything')));
    const uri = 'demo://resource/dynamic/text/1';
    // The server logs each subscription before it answers the request.
    const logsOfSubscribing = async () => {
      const before = session.notifications.items.length;
      await client.subscribeResource({ uri });
      return session.notifications.items
        .slice(before)
        .filter(({ method }) => method === 'notifications/message')
        .map(({ params }) => params.level);
    };

    await client.setLoggingLevel('info');
    assert.deepEqual(await logsOfSubscribing(), ['info']);
    await client.setLoggingLevel('error');
    assert.deepEqual(await logsOfSubscribing(), []);
  });
});

describe('when the server dies', () => {
  test('by kill -9 in mid-call, the call is answered at once with the reason', async (t) => {
    const box = new Sandbox(t);
    const session = await Session.open(box, sitting(server('everything')));
    const { childPid } = await session.status();

    const result = await session.call(
      'trigger-long-running-operation',
      { duration: 600, steps: 6000 },
      {
        onprogress: ({ progress }) => {
          if (progress === 1) process.kill(childPid, 'SIGKILL');
        },
      },
    );
    assert.equal(result.isError, true);
    assert.match(textOf(result), /SIGKILL/);
    assert.match(textOf(result), /may or may not have taken effect/);
    assert.match(textOf(result), /Starting default \(STDIO\) server\.\.\./);

    const next = await session.call('echo', { message: 'again' });
    assert.match(next.content[0].text, /^\[mcp-sitter\] server restarted \(spawn #2, pid \d+, /);
    assert.match(next.content[0].text, /previous: ⚠ crashed \(SIGKILL, /);
    assert.equal(next.content[1].text, 'Echo: again');
    assert.notEqual((await session.status()).childPid, childPid);
  });

  test('by itself, its exit code, signal and last lines of stderr are reported', async (t) => {
    const box = new Sandbox(t);
    const stderr = Array.from({ length: 30 }, (_, index) => `last words, line ${index + 1}.`);
    const plan = box.write(
      'plan.json',
      planOf(tool('fail', { exit: 3, stderr }), tool('fault', { signal: 'SIGSEGV' }), tool('echo')),
    );
    const session = await Session.open(box, sitting(workshop(plan)));

    const failed = await session.call('fail');
    assert.equal(failed.isError, true);
    assert.match(textOf(failed), /exit(ed)?( with)?( code)? 3/);
    assert.match(textOf(failed), /last words, line 30\./);
    assert.match(textOf(failed), /last words, line 11\./);
    assert.doesNotMatch(textOf(failed), /last words, line 10\./);
    assert.match(
      textOf(await session.call('sitter_child_stderr', { grep: 'line 1\\.$' })),
      /last words, line 1\./,
    );

    const faulted = await session.call('fault');
    assert.equal(faulted.isError, true);
    assert.match(textOf(faulted), /SIGSEGV/);
    const next = await session.call('echo', { n: 1 });
    assert.match(next.content[0].text, /^\[mcp-sitter\] server restarted \(spawn #3, /);
    assert.match(next.content[0].text, /previous: ⚠ crashed \(SIGSEGV\)/);
    assert.equal(next.content[1].text, '{"n":1}');
  });

  test('every call in flight is answered', async (t) => {
    const box = new Sandbox(t);
    const plan = box.write(
      'plan.json',
      planOf(tool('stall', { waits: true }), tool('fail', { exit: 1 })),
    );
    const session = await Session.open(box, sitting(workshop(plan)));

    const calls = Array.from({ length: 20 }, () => session.call('stall'));
    calls.push(session.call('fail'));
    for (const result of await Promise.all(calls)) assert.equal(result.isError, true);
  });

  test('the built-in tools answer while it hangs', async (t) => {
    const box = new Sandbox(t);
    const plan = box.write('plan.json', planOf(tool('stall', { waits: true })));
    const session = await Session.open(box, sitting(workshop(plan)));
    const { childPid } = await session.status();
    process.kill(childPid, 'SIGSTOP');

    const call = session.call('stall');
    assert.equal((await session.status()).requestsInFlight, 1);
    assert.match(textOf(await session.call('sitter_child_stderr')), /workshop is open/);
    assert.equal(JSON.parse(textOf(await session.call('sitter_kill'))).killed[0].pid, childPid);
    assert.equal((await call).isError, true);
  });
});

describe('after sitter_kill', () => {
  test('the first call restarts the server and says so', async (t) => {
    const box = new Sandbox(t);
    const session = await Session.open(box, sitting(server('everything')));
    const { childPid } = await session.status();

    const killed = JSON.parse(textOf(await session.call('sitter_kill')));
    assert.equal(killed.count, 1);
    assert.deepEqual(
      killed.killed.map(({ pid, relation }) => ({ pid, relation })),
      [{ pid: childPid, relation: 'child' }],
    );
    assert.equal((await session.status()).childPid, null);

    const next = await session.call('echo', { message: 'hello' });
    assert.match(next.content[0].text, /^\[mcp-sitter\] server restarted \(spawn #2, pid \d+, /);
    assert.match(next.content[0].text, /previous: killed by sitter_kill after /);
    assert.doesNotMatch(next.content[0].text, /crash|tools:/);
    assert.equal(next.content[1].text, 'Echo: hello');
    const third = await session.call('echo', { message: 'hello' });
    assert.deepEqual(third.content, [{ type: 'text', text: 'Echo: hello' }]);
  });

  test('a call in flight is answered, and what killed it is named', async (t) => {
    const box = new Sandbox(t);
    const plan = box.write('plan.json', planOf(tool('stall', { waits: true })));
    const session = await Session.open(box, sitting(workshop(plan)));

    const call = session.call('stall');
    await session.stderr.find((line) => line === 'stall waits', 'the call');
    await session.call('sitter_kill');
    const result = await call;
    assert.equal(result.isError, true);
    assert.match(textOf(result), /sitter_kill/);
    assert.doesNotMatch(textOf(result), /crash/);
  });

  test('nothing but a request that needs the server starts it', async (t) => {
    const box = new Sandbox(t);
    const session = await Session.open(box, sitting(server('everything')), {
      capabilities: { roots: { listChanged: true } },
      handlers: [[ListRootsRequestSchema, () => ({ roots: [] })]],
    });

    await session.call('sitter_kill');
    await session.client.sendRootsListChanged();
    await session.client.ping();
    const { childPid, spawnCount } = await session.status();
    assert.deepEqual({ childPid, spawnCount }, { childPid: null, spawnCount: 1 });
  });

  test('the subscriptions of the client hold with the new server', async (t) => {
    const box = new Sandbox(t);
    const env = { MEMORY_FILE_PATH: box.path('graph.jsonl') };
    const session = await Session.open(box, sitting(server('memory')), { env });
    const { resources } = await session.client.listResources();
    const updatesOfCreating = async (name) => {
      const before = session.notifications.items.length;
      const entity = { name, entityType: 'thing', observations: [] };
      await session.call('create_entities', { entities: [entity] });
      return session.notifications.items
        .slice(before)
        .filter(({ method }) => method === 'notifications/resources/updated')
        .map(({ params }) => params.uri);
    };
    const { uri } = resources[0];

    assert.deepEqual(await updatesOfCreating('before'), []);
    await session.client.subscribeResource({ uri });
    assert.deepEqual(await updatesOfCreating('subscribed'), [uri]);
    await session.call('sitter_kill');
    await session.call('read_graph');
    assert.deepEqual(await updatesOfCreating('after'), [uri]);
    await session.client.unsubscribeResource({ uri });
    await session.call('sitter_kill');
    await session.call('read_graph');
    assert.deepEqual(await updatesOfCreating('unsubscribed'), []);
  });

  test('the log level of the client holds with the new server', async (t) => {
    const box = new Sandbox(t);
    const session = await Session.open(box, sitting(server('everything')));
    const logs = () =>
      session.notifications.items.filter(({ method }) => method === 'notifications/message');

    await session.client.setLoggingLevel('error');
    await session.call('sitter_kill');
    await session.call('echo', { message: 'start' });
    await session.client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' });
    assert.deepEqual(logs(), []);
    await session.client.setLoggingLevel('debug');
    await session.client.subscribeResource({ uri: 'demo://resource/dynamic/text/2' });
    assert.equal(logs().length, 1);
  });
});

describe('after a rebuild', () => {
  const readFile = (properties, required) =>
    tool('read_file', {}, { inputSchema: { type: 'object', properties, required } });

  test('changed tools are announced, and told in the notice', async (t) => {
    const box = new Sandbox(t);
    const path = { type: 'string' };
    box.write('plan.json', planOf(tool('find'), readFile({ path }), tool('echo')));
    const session = await Session.open(box, sitting(workshop(box.path('plan.json'))));
    await session.toolNames();

    await session.call('sitter_kill');
    box.write(
      'plan.json',
      planOf(
        tool('echo'),
        readFile({ path, limit: { type: 'integer' } }, ['path']),
        tool('search'),
      ),
    );
    const next = await session.call('echo', { n: 1 });
    const [firstLine, ...details] = next.content[0].text.split('\n');
    assert.match(
      firstLine,
      /tools: \+1 added \(search\), -1 removed \(find\), 1 schema changed \(read_file\)\.$/,
    );
    assert.match(details.join('\n'), /read_file: .*\+limit \(integer, optional\)/);
    assert.match(details.join('\n'), /path now required/);
    assert.equal(session.notifications.items.filter((m) => m.method === listChanged).length, 1);
    assert.deepEqual(await session.toolNames(), ['echo', 'read_file', 'search', ...sitterTools]);
  });

  test('unchanged tools in another order and spelling are not announced', async (t) => {
    const box = new Sandbox(t);
    box.write(
      'plan.json',
      '{"tools":[{"name":"a","inputSchema":{"type":"object","maxProperties":10}},{"name":"b"}]}',
    );
    const session = await Session.open(box, sitting(workshop(box.path('plan.json'))));
    await session.toolNames();

    await session.call('sitter_kill');
    box.write(
      'plan.json',
      '{"tools":[{"name":"b"},{"inputSchema":{"maxProperties":1e1,"type":"object"},"name":"a"}]}',
    );
    const next = await session.call('a', { n: 1 });
    assert.doesNotMatch(next.content[0].text, /tools:/);
    assert.deepEqual(session.notifications.items, []);
  });

  test('the answer with the notice comes when the client knows the new list', async (t) => {
    const box = new Sandbox(t);
    box.write('plan.json', planOf(tool('echo')));
    const session = await Session.open(box, sitting(workshop(box.path('plan.json'))), {
      listChanged: { tools: { autoRefresh: true, onChanged: () => {} } },
    });
    await session.toolNames();

    await session.call('sitter_kill');
    box.write('plan.json', planOf(tool('echo'), tool('added')));
    const before = session.messages.items.length;
    await session.call('echo', { n: 1 });
    const [announced, listed, answered, ...more] = session.messages.items.slice(before);
    assert.equal(announced.method, listChanged);
    assert.deepEqual(
      listed.result.tools.map(({ name }) => name),
      ['echo', 'added', ...sitterTools],
    );
    assert.match(answered.result.content[0].text, /^\[mcp-sitter\] server restarted/);
    assert.deepEqual(more, []);
  });

  test('a result of a tool with another output schema passes the check of the client', async (t) => {
    const box = new Sandbox(t);
    const measure = (key, value) =>
      tool(
        'measure',
        { structured: { [key]: value } },
        {
          outputSchema: {
            type: 'object',
            properties: { [key]: { type: typeof value } },
            required: [key],
          },
        },
      );
    box.write('plan.json', planOf(measure('metres', 3)));
    const session = await Session.open(box, sitting(workshop(box.path('plan.json'))), {
      listChanged: { tools: { autoRefresh: true, onChanged: () => {} } },
    });
    await session.toolNames();
    assert.deepEqual((await session.call('measure')).structuredContent, { metres: 3 });

    await session.call('sitter_kill');
    box.write('plan.json', planOf(measure('length', 'three metres')));
    const next = await session.call('measure');
    assert.deepEqual(next.structuredContent, { length: 'three metres' });
    assert.match(next.content.at(-1).text, /^\[mcp-sitter\] server restarted/);
  });
});

describe('a server that cannot start', () => {
  // A command in a file of its own, as a compiler would write it.
  const build = (box) => {
    const plan = box.write('plan.json', planOf(tool('greet', { answer: 'hello' })));
    const words = workshop(plan).map((word) => `'${word}'`);
    mkdirSync(join(box.dir, 'build'), { recursive: true });
    box.write(join('build', 'server'), `#!/bin/sh\nexec ${words.join(' ')}\n`, 0o755);
  };

  test('does not end the session: it is reported, and the next call works after a repair', async (t) => {
    const box = new Sandbox(t);
    const session = await Session.open(box, sitting([box.path('build/server')]));

    assert.match(session.client.getInstructions(), /no such file/i);
    assert.deepEqual(await session.toolNames(), sitterTools);
    assert.deepEqual((await session.client.listPrompts()).prompts, []);
    assert.deepEqual((await session.client.listResources()).resources, []);
    const status = await session.status();
    assert.equal(status.childAlive, false);
    assert.match(status.lastFailure.what, /no such file/i);
    const failed = await session.call('greet');
    assert.equal(failed.isError, true);
    assert.match(textOf(failed), /no such file/i);
    assert.match(textOf(failed), /build\/server/);

    build(box);
    const before = session.notifications.items.length;
    const greeted = await session.call('greet');
    assert.equal(greeted.content.at(-1).text, 'hello');
    assert.ok(session.notifications.items.slice(before).some((m) => m.method === listChanged));
    assert.deepEqual(await session.toolNames(), ['greet', ...sitterTools]);
  });

  test('in the middle of a session: the reason and its stderr are told', async (t) => {
    const box = new Sandbox(t);
    build(box);
    const session = await Session.open(box, sitting([box.path('build/server')]));
    assert.deepEqual(await session.toolNames(), ['greet', ...sitterTools]);

    await session.call('sitter_kill');
    writeFileSync(box.path('plan.json'), '{"tools": [');
    const failed = await session.call('greet');
    assert.equal(failed.isError, true);
    assert.match(textOf(failed), /SyntaxError/);
    assert.deepEqual(await session.toolNames(), ['greet', ...sitterTools]);

    build(box);
    const greeted = await session.call('greet');
    assert.match(greeted.content[0].text, /^\[mcp-sitter\] server restarted/);
    assert.equal(greeted.content[1].text, 'hello');
  });
});
