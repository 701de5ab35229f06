// How the bridge reaches a daemon over HTTP, and what it says of one that it cannot use.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { Authority } from './support/certificates.mjs';
import { Daemon, bridged, sdk1, sdk2 } from './support/daemon.mjs';
import { planOf } from './support/plan.mjs';
import { Proxy } from './support/proxy.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Session, textOf } from './support/session.mjs';
import { until } from './support/waiting.mjs';

// Most of these tests wait for a limit of the bridge.
const sideBySide = { concurrency: 4 };

const echo = { name: 'echo', does: { answer: 'an echo' } };
const sitterTools = ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'];

const daemonIn = (box, options) =>
  Daemon.start(box, sdk1(box.write('plan.json', planOf(echo)), 'sessions'), options);

/** A session that is opened although the daemon may not answer. */
const openAnyway = (box, url, flags = [], options) =>
  Session.open(
    box,
    bridged(url, '--answer-within', '1', '--wait-for-server', '1', ...flags),
    options,
  );

/** A server in this process, at a port of its own. */
async function serverIn(box, server) {
  const sockets = new Set();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  box.atEnd(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${server.address().port}/mcp`;
}

/** Why the daemon cannot be reached, as sitter_status says it. */
async function absence(session) {
  const status = await until(
    async () => {
      const now = await session.status();
      return now.absence && now;
    },
    () => 'the absence',
  );
  return status.absence.why;
}

async function works(session) {
  assert.deepEqual(await session.toolNames(), ['echo', ...sitterTools]);
  assert.equal(textOf(await session.call('echo')), 'an echo');
}

/** The daemon is away for this reason. The session is open, and calls say the reason, too. */
async function isAway(session, reason) {
  assert.match(await absence(session), reason);
  assert.deepEqual(await session.toolNames(), sitterTools);
  const text = textOf(await session.call('echo'));
  assert.match(text, reason);
  assert.match(text, /not delivered and had no effect/);
}

describe('a daemon on this machine', sideBySide, () => {
  test('that listens on ::1 only is reached as localhost', async (t) => {
    const box = new Sandbox(t);
    const daemon = await daemonIn(box, { name: 'localhost', env: { HOST: '::1' } });

    const session = await Session.open(box, bridged(daemon.url));
    await works(session);
    await daemon.restart();
    const { content } = await session.call('echo');
    assert.match(content[0].text, /^\[mcp-sitter\] server restarted/);
    assert.equal(content[1].text, 'an echo');
  });

  test('is reached without the proxy', async (t) => {
    const box = new Sandbox(t);
    const proxy = await Proxy.start(box);
    const daemon = await daemonIn(box, { name: 'localhost' });
    const env = { http_proxy: proxy.url, https_proxy: proxy.url, all_proxy: proxy.url };

    await works(await Session.open(box, bridged(daemon.url), { env }));
    assert.deepEqual(proxy.asked, []);
  });

  // Node.js closes a connection that has been idle for 5 s, and says so beforehand. A request that
  // is sent then is lost, and the client cannot know whether it was carried out.
  test('that closes idle connections loses no call', async (t) => {
    const box = new Sandbox(t);
    const plan = box.write('plan.json', planOf(echo));
    const commands = [sdk1(plan, 'sessions'), sdk1(plan, 'stateless'), sdk2(plan)];
    const daemons = await Promise.all(commands.map((command) => Daemon.start(box, command)));

    const callTwice = async (daemon, pause) => {
      const session = await Session.open(box, bridged(daemon.url));
      await session.call('echo');
      await passes(pause);
      const { content } = await session.call('echo');
      const { spawnCount } = await session.status();
      return { content, spawnCount };
    };
    const pauses = [4500, 4900, 5300, 5700, 5900, 6000, 6100];
    const results = await Promise.all(
      daemons.flatMap((daemon) => pauses.map((pause) => callTwice(daemon, pause))),
    );
    for (const result of results) {
      assert.deepEqual(result, { content: [{ type: 'text', text: 'an echo' }], spawnCount: 1 });
    }
  });
});

describe('a daemon over TLS', sideBySide, () => {
  const secure = async (t, name, certifiedName, days) => {
    const box = new Sandbox(t);
    const authority = new Authority(box);
    const env = authority.certify(certifiedName, days);
    const daemon = await daemonIn(box, { scheme: 'https', name, env });
    return { box, daemon, trust: ['--cacert', authority.file], authority };
  };

  test('whose authority is named with --cacert is used, and may restart', async (t) => {
    const { box, daemon, trust } = await secure(t, 'localhost', 'localhost');

    const session = await Session.open(box, bridged(daemon.url, ...trust));
    await works(session);
    await daemon.restart();
    const { content } = await session.call('echo');
    assert.match(content[0].text, /^\[mcp-sitter\] server restarted/);
    assert.equal(content[1].text, 'an echo');
  });

  test('whose authority is in SSL_CERT_FILE is used', async (t) => {
    const { box, daemon, authority } = await secure(t, '127.0.0.1', '127.0.0.1');

    const env = { SSL_CERT_FILE: authority.file };
    await works(await Session.open(box, bridged(daemon.url), { env }));
  });

  test('whose authority is unknown is not used', async (t) => {
    const { box, daemon } = await secure(t, 'localhost', 'localhost');

    const session = await openAnyway(box, daemon.url);
    await isAway(session, /the certificate of localhost is not trusted: .*--cacert/);
  });

  test('with a certificate of another name is not used', async (t) => {
    const { box, daemon, trust } = await secure(t, 'localhost', 'daemon.test');

    const session = await openAnyway(box, daemon.url, trust);
    await isAway(session, /the certificate is for daemon\.test, not for localhost/);
  });

  test('with a certificate that has expired is not used', async (t) => {
    const { box, daemon, trust } = await secure(t, 'localhost', 'localhost', -1);

    const session = await openAnyway(box, daemon.url, trust);
    await isAway(session, /the certificate has expired \(on \d{4}-\d\d-\d\d\)/);
  });

  test('that is asked without TLS, and one without TLS that is asked with it', async (t) => {
    const { box, daemon } = await secure(t, 'localhost', 'localhost');
    const plain = await daemonIn(box);

    const over = await openAnyway(box, daemon.url.replace('https:', 'http:'));
    await isAway(over, /the connection ended before the response/);
    const under = await openAnyway(box, plain.url.replace('http:', 'https:'));
    await isAway(under, /it does not speak TLS/);
  });
});

describe('a daemon behind a proxy', sideBySide, () => {
  test('over TLS: the proxy opens a tunnel, and gets the password but no header', async (t) => {
    const box = new Sandbox(t);
    const proxy = await Proxy.start(box);
    const authority = new Authority(box);
    const daemon = await daemonIn(box, {
      scheme: 'https',
      name: 'daemon.test',
      env: authority.certify('daemon.test'),
    });
    const env = { HTTPS_PROXY: `http://me:open%20it@127.0.0.1:${proxy.port}` };

    const flags = ['--cacert', authority.file, '--header', 'Authorization=secret'];
    await works(await Session.open(box, bridged(daemon.url, ...flags), { env }));
    const authorization = `Basic ${Buffer.from('me:open it').toString('base64')}`;
    assert.notEqual(proxy.asked.length, 0);
    for (const asked of proxy.asked) {
      assert.deepEqual(asked, { to: `daemon.test:${daemon.port}`, authorization });
    }
  });

  test('without TLS: http_proxy counts, and a restart is seen', async (t) => {
    const box = new Sandbox(t);
    const proxy = await Proxy.start(box);
    const daemon = await daemonIn(box, { name: 'daemon.test' });

    const session = await Session.open(box, bridged(daemon.url), {
      env: { http_proxy: proxy.url },
    });
    await works(session);
    await daemon.restart();
    const { content } = await session.call('echo');
    // It depends on whether the stream of the session is asked for again while nothing listens.
    assert.match(content[0].text, /^\[mcp-sitter\] (session opened again|server restarted)/);
    assert.equal(content[1].text, 'an echo');
    assert.ok(proxy.asked.every(({ to }) => to === `daemon.test:${daemon.port}`));
  });

  test('that refuses the tunnel: its status is told', async (t) => {
    const box = new Sandbox(t);
    const proxy = await Proxy.start(box, '407 Proxy Authentication Required');

    const session = await openAnyway(box, 'http://daemon.test:1/mcp', [], {
      env: { http_proxy: proxy.url },
    });
    await isAway(session, /proxy.*407/);
  });

  test('but in NO_PROXY is looked up and not asked through the proxy', async (t) => {
    const box = new Sandbox(t);
    const proxy = await Proxy.start(box);
    const env = { http_proxy: proxy.url, NO_PROXY: 'other.test,daemon.test' };

    const session = await openAnyway(box, 'http://daemon.test:1/mcp', [], { env });
    await isAway(session, /the name daemon\.test is not known/);
    assert.deepEqual(proxy.asked, []);
  });
});

describe('what is no daemon of MCP', sideBySide, () => {
  const answers = (status, headers, body) =>
    createHttpServer((_, response) => response.writeHead(status, headers).end(body));
  const html = { 'content-type': 'text/html' };
  const page = '<html><head><title>Welcome</title></head><body><h1>It works</h1></body></html>';

  const wrong = {
    'a web page': [answers(200, html, page), /replied with 200 OK, .*: Welcome It works/],
    405: [answers(405, { allow: 'GET' }), /answers 405 Method Not Allowed/],
    500: [
      answers(500, html, '<pre>TypeError: x is undefined</pre>'),
      /answers 500 Internal Server Error: TypeError: x is undefined/,
    ],
    401: [
      answers(401, { 'www-authenticate': 'Bearer realm="notes"' }),
      /answers 401 Unauthorized, WWW-Authenticate: Bearer realm="notes"; .*--header-env/,
    ],
  };
  for (const [name, [server, words]] of Object.entries(wrong)) {
    test(`${name}: the session is open, and says what came instead of an answer`, async (t) => {
      const box = new Sandbox(t);
      const url = await serverIn(box, server);

      const session = await Session.open(box, bridged(url));
      assert.match(session.client.getInstructions(), words);
      assert.ok(session.client.getInstructions().includes(url));
      const failed = await session.call('echo');
      assert.equal(failed.isError, true);
      assert.match(textOf(failed), words);
    });
  }

  test('404 to the opening: the path may come, so it is asked again', async (t) => {
    const box = new Sandbox(t);
    const url = await serverIn(box, answers(404, html, 'Cannot POST /mcp'));

    await isAway(await openAnyway(box, url), /answers 404 Not Found/);
  });

  test('a port that says nothing: the session is open, and the built-in tools answer', async (t) => {
    const box = new Sandbox(t);
    const url = await serverIn(box, createServer());

    const session = await openAnyway(box, url);
    assert.match(session.client.getInstructions(), /is not ready: it is still starting after 1s/);
    assert.ok(session.client.getInstructions().includes(url));
    await session.client.ping();
    assert.deepEqual(await session.toolNames(), sitterTools);
    assert.equal((await session.status()).childReady, false);
  });

  test('a port that speaks another protocol', async (t) => {
    const box = new Sandbox(t);
    const greet = (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n');
    const url = await serverIn(box, createServer(greet));

    await isAway(await openAnyway(box, url), /is not valid HTTP|sent bytes before any request/);
  });

  test('an opening whose connection breaks is sent again', async (t) => {
    const box = new Sandbox(t);
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'late', version: '1' },
    };
    let openings = 0;
    const server = createHttpServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const { id, method } = JSON.parse(chunks.join('') || '{}');
      if (method === 'initialize' && ++openings === 1) return request.socket.destroy();
      if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });

    const session = await Session.open(box, bridged(await serverIn(box, server)));
    assert.equal(session.client.getServerVersion().name, 'late');
    assert.equal(openings, 2);
  });
});
