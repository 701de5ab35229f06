// The shipped program in front of a daemon over HTTP, on a system whose names are resolved by
// modules that a static program cannot load. The C library crashes there when it resolves a name.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { packed } from './places.mjs';
import { Session } from './session.mjs';

const root = mkdtempSync(join(tmpdir(), 'sitter-daemon-'));
after(() => rmSync(root, { recursive: true, force: true }));

const tarball = readdirSync(packed).find((name) => /^mcp-sitter-linux-x64-.*\.tgz$/.test(name));
execFileSync('tar', ['-xzf', join(packed, tarball), '-C', root]);
const program = join(root, 'package/bin/mcp-sitter');

const files = {
  '/etc/nsswitch.conf': 'hosts: files resolve [!UNAVAIL=return] myhostname dns\n',
  // Without localhost, so that the modules would be asked for it.
  '/etc/hosts': '127.0.0.1 notes.example\n',
};

// The words that run a program which sees these files in the place of the system's.
const elsewhere = () => {
  const mounts = Object.entries(files).map(([path, text], index) => {
    const own = join(root, `file-${index}`);
    writeFileSync(own, text);
    return `mount --bind '${own}' '${path}' && `;
  });
  return ['unshare', '-m', 'sh', '-c', `${mounts.join('')}exec "$@"`, 'sh'];
};

const reason = () => {
  if (process.getuid() !== 0) return 'files of the system can only be replaced as root';
  const [command, ...words] = [...elsewhere(), 'true'];
  const { status } = spawnSync(command, words);
  return status === 0 ? false : 'this system lets nobody mount files';
};

// Runs the program with this URL up to the answer to its opening.
async function openingOf(url, ...options) {
  const [command, ...words] = [...elsewhere(), program, '--http', url, ...options];
  const bridge = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(bridge, 'close');
  bridge.stdin.write(
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    }) + '\n',
  );
  let answer;
  for await (const line of createInterface({ input: bridge.stdout })) {
    answer = JSON.parse(line);
    if (answer.id === 1) break;
  }
  bridge.stdin.end();
  bridge.stdout.resume();
  assert.deepEqual(await ended, [0, null]);
  return answer.result;
}

describe('with modules for names that a static program cannot load', { skip: reason() }, () => {
  let daemon;
  let port;

  before(async () => {
    daemon = spawn(process.env.FAKE_MCP, ['--http', '0'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [line] = await once(createInterface({ input: daemon.stderr }), 'line');
    port = line.match(/listening on 127\.0\.0\.1:(\d+)/)[1];
  });
  after(() => daemon?.kill());

  for (const name of ['localhost', 'notes.example', '127.0.0.1']) {
    test(`a daemon is reached at ${name}`, async () => {
      const { serverInfo } = await openingOf(`http://${name}:${port}/mcp`);
      assert.equal(serverInfo.name, 'fake-mcp');
    });
  }

  test('a host name that does not resolve is reported', async () => {
    const opened = await openingOf(`http://nobody.invalid:${port}/mcp`, '--answer-within', '1');
    assert.equal(opened.serverInfo.name, 'mcp-sitter');
    assert.match(opened.instructions, /nobody\.invalid/);
  });
});

// The program relocates OpenSSL late, which no other build does (src/io/http/tls_tables_late.cpp).
test('a daemon over TLS is reached', async (t) => {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(root, name));
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-days', '2', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
    ],
    { stdio: 'ignore' },
  );
  const daemon = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, async (request, response) => {
    const { id, params } = JSON.parse((await request.toArray()).join('') || '{}');
    if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
    const { protocolVersion } = params;
    const result = { protocolVersion, capabilities: {}, serverInfo: { name: 'safe', version: '1' } };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  daemon.listen(0, '127.0.0.1');
  await once(daemon, 'listening');
  t.after(() => daemon.close());
  const url = `https://localhost:${daemon.address().port}/mcp`;
  const session = await Session.open(t, [program, '--cacert', cert, '--http', url]);
  assert.equal(session.opening.serverInfo.name, 'safe');
  const maps = readFileSync(`/proc/${session.child.pid}/maps`, 'latin1').split('\n');
  const writable = maps.filter((line) => line.includes(' rw') && line.endsWith(program));
  assert.equal(writable.length, 1, 'only .data is written, and the tables are read-only again');
});
