// The same traffic with and without the bridge.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeMcpPath, server, sitting, workshopV2 } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { Wire } from './support/wire.mjs';

// Lines that are odd but legal: ids of every kind, key orders, number spellings, escapes, unknown
// members, blanks. {project} stands for the working directory.
const opening = (capabilities) => [
  `{"params":{"clientInfo":{"version":"0.0.1","name":"odd\\u0020client","x-unknown":[1.0,1e2,-0]},` +
    `"capabilities":${capabilities},"protocolVersion":"2025-11-25"},"id":"\\u00fc-1",` +
    `"method":"initialize","jsonrpc":"2.0"}`,
  `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
];

const everything = [
  ...opening('{"experimental":{"x":{}},"sampling":{},"elicitation":{}}'),
  `{"jsonrpc":"2.0","id":0,"method":"ping"}`,
  `{"method":"tools/list","id":1.0,"jsonrpc":"2.0","params":{}}`,
  ` { "jsonrpc" : "2.0" , "id" : -7 , "method" : "prompts/list" }  `,
  `{"id":9007199254740991,"jsonrpc":"2.0","method":"resources/list","params":{"_meta":{"a/b":null}}}`,
  `{"jsonrpc":"2.0","id":1e2,"method":"resources/templates/list"}`,
  `{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"arguments":{"message":"\\ud83d\\ude00 \\u0000 \\/ é \\"tools\\":[]"},"name":"echo"}}`,
  `{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"get-sum","arguments":{"a":1E400,"b":2}}}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get-sum","arguments":{"a":1.50e1,"b":-0.0}}}`,
  `{"jsonrpc":"2.0","id":"no tool","method":"tools/call","params":{"name":"no-such-tool","arguments":{}}}`,
  `{"jsonrpc":"2.0","id":"no method","method":"no/such/method","params":{"deep":[[[[[[[[{}]]]]]]]]}}`,
  `{"jsonrpc":"2.0","id":"wrong","method":"tools/call","params":{"name":17}}`,
  `{"jsonrpc":"2.0","id":"line\\nbreak","method":"tools/call","params":{"name":"get-structured-content","arguments":{"location":"Chicago"}}}`,
  `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get-tiny-image","arguments":{}}}`,
  `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get-annotated-message","arguments":{"messageType":"error","includeImage":true}}}`,
  `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"get-resource-links","arguments":{"count":10}}}`,
  `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":"\\u0041"},"name":"trigger-long-running-operation","arguments":{"duration":0.1,"steps":5}}}`,
  `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"trigger-sampling-request","arguments":{"prompt":"x","maxTokens":1}}}`,
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"trigger-elicitation-request","arguments":{}}}`,
  `{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"args-prompt","arguments":{"city":"\\u004fslo"}}}`,
  `{"jsonrpc":"2.0","id":9,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":""}}}`,
  `{"jsonrpc":"2.0","id":10,"method":"resources/read","params":{"uri":"demo://resource/static/document/features.md"}}`,
  `{"jsonrpc":"2.0","id":11,"method":"resources/read","params":{"uri":"demo://nothing"}}`,
  `{"jsonrpc":"2.0","id":12,"method":"resources/subscribe","params":{"uri":"demo://resource/dynamic/text/1"}}`,
  `{"jsonrpc":"2.0","id":13,"method":"logging/setLevel","params":{"level":"emergency"}}`,
  `{"jsonrpc":"2.0","id":14,"method":"resources/unsubscribe","params":{"uri":"demo://resource/dynamic/text/1"}}`,
  `{"jsonrpc":"2.0","id":15,"method":"logging/setLevel","params":{"level":"loud"}}`,
  `{"jsonrpc":"2.0","method":"notifications/unknown","params":{"x":1}}`,
  `{"jsonrpc":"2.0","id":16,"method":"ping","params":{}}`,
];

const filesystem = [
  ...opening('{}'),
  `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`,
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"{project}/a.txt","content":"\\u0061\\u0000\\ud800 \\u2028\\r\\n"}}}`,
  `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"{project}/a.txt"}}}`,
  `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"{project}/large.txt"}}}`,
  `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"directory_tree","arguments":{"path":"{project}"}}}`,
  `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"/etc/shadow"}}}`,
  `{"jsonrpc":"2.0","id":6,"method":"resources/list"}`,
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_allowed_directories"}}`,
];

const memory = [
  ...opening('{}'),
  `{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":{}}}`,
  `{"jsonrpc":"2.0","id":"b","method":"resources/subscribe","params":{"uri":"memory://knowledge-graph"}}`,
  `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"create_entities","arguments":{"entities":[{"observations":["\\ud83e\\udd16","ß"],"entityType":"t","name":"\\u006e"}]}}}`,
  `{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"read_graph","arguments":{}}}`,
  `{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"search_nodes","arguments":{"query":"ß"}}}`,
  `{"jsonrpc":"2.0","id":"f","method":"tools/call","params":{"name":"delete_entities","arguments":{"entityNames":["n","none"]}}}`,
  `{"jsonrpc":"2.0","id":"g","method":"prompts/list"}`,
  `{"jsonrpc":"2.0","id":"h","method":"resources/read","params":{"uri":"memory://knowledge-graph"}}`,
];

// Lines of the stateless revision, in which every request repeats what the opening says in the
// other revisions.
const envelope = (more = '') =>
  `"_meta":{"x/y":[1.0,1e2,-0],"io.modelcontextprotocol\\/protocolVersion":"2026\\u002d07-28",` +
  `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},` +
  `"io.modelcontextprotocol/clientInfo":{"version":"0","name":"odd\\u0020client"}${more}}`;

const stateless = [
  `{"params":{${envelope()}},"id":"\\u00fc-1","method":"server/discover","jsonrpc":"2.0"}`,
  `{"method":"tools/list","id":1.0,"jsonrpc":"2.0","params":{${envelope()}}}`,
  ` { "jsonrpc" : "2.0" , "id" : -7 , "method" : "prompts/list" , "params" : { ${envelope()} } } `,
  `{"id":9007199254740991,"jsonrpc":"2.0","method":"resources/list","params":{${envelope()}}}`,
  `{"jsonrpc":"2.0","id":1e2,"method":"resources/templates/list","params":{${envelope()}}}`,
  `{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"arguments":{"text":"\\ud83d\\ude00 \\u0000 \\/ é \\"tools\\":[]","n":1E400},"name":"echo",${envelope()}}}`,
  `{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{${envelope(',"progressToken":"\\u0041"')},"name":"progress","arguments":{"steps":3}}}`,
  `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"input_required","arguments":{"state":"\\u0073"},${envelope()}}}`,
  `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"input_required","arguments":{},"inputResponses":{"q":{"action":"accept","content":{"n":1.50e1}}},"requestState":"\\u0073",${envelope()}}}`,
  `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"task",${envelope()}}}`,
  `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"structured","arguments":{"n":1.50},${envelope()}}}`,
  `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"meta",${envelope(',"traceparent":"00-0"')}}}`,
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"no-such-tool",${envelope()}}}`,
  `{"jsonrpc":"2.0","id":8,"method":"no/such/method","params":{"deep":[[[[[[[[{}]]]]]]]],${envelope()}}}`,
  `{"jsonrpc":"2.0","id":9,"method":"prompts/get","params":{"name":"args","arguments":{"city":"\\u004fslo"},${envelope()}}}`,
  `{"jsonrpc":"2.0","id":10,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"y","value":""},${envelope()}}}`,
  `{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}`,
  `{"jsonrpc":"2.0","id":12,"method":"tools/list","params":{"_meta":{}}}`,
];

const answers = {
  'sampling/createMessage': `{"model":"m","role":"assistant","content":{"type":"text","text":"\\u0073"},"n":1.0}`,
  'elicitation/create': `{"action":"accept","content":{"name":"\\ud83d\\ude00","integer":4.2e1}}`,
};

/** Plays the script. Returns the lines that the client got and the lines that the server got. */
async function play(box, script, command, before = (words) => words) {
  rmSync(box.project, { recursive: true });
  mkdirSync(box.project);
  writeFileSync(join(box.project, 'large.txt'), 'a "large" file\n'.repeat(100_000));
  rmSync(box.path('graph.jsonl'), { force: true });
  rmSync(box.path('input'), { force: true });
  // The server gets its input through tee, which keeps a copy.
  const copying = ['/bin/sh', '-c', 'log=$1; shift; tee "$log" | "$@"', 'sh', box.path('input')];
  const wire = new Wire(box, before([...copying, ...command]), {
    env: { MEMORY_FILE_PATH: box.path('graph.jsonl') },
  });
  const sent = [];
  const send = (line) => {
    sent.push(line);
    wire.send(line);
  };
  for (const line of script.map((text) => text.replaceAll('{project}', box.project))) {
    const { id } = JSON.parse(line);
    const from = wire.lines.items.length;
    send(line);
    if (id === undefined) continue;
    // The server may ask the client something before it answers.
    const isForClient = (text) => JSON.parse(text).method in answers;
    const isAnswer = (text) => JSON.parse(text).id === id && !JSON.parse(text).method;
    const came = await wire.lines.find((text) => isAnswer(text) || isForClient(text), line, from);
    if (!isForClient(came)) continue;
    const question = JSON.parse(came);
    const questionId = JSON.stringify(question.id);
    send(`{"jsonrpc":"2.0","id":${questionId},"result":${answers[question.method]}}`);
    await wire.answer(id, from);
  }
  assert.equal(await wire.end(), 0);
  await box.nothingLeft();
  return { lines: wire.lines.items, sent, input: readFileSync(box.path('input'), 'utf8') };
}

// Where the servers write the id, and where the answers of this client have it.
const idMember =
  /(?<=^\{"jsonrpc":"2\.0",)"id":("(?:[^"\\]|\\.)*"|[-+.\w]+)|"id":("(?:[^"\\]|\\.)*"|[-+.\w]+)(?=\}$)/;
const withId = (line, id) => line.replace(idMember, () => `"id":${JSON.stringify(id)}`);

/** A line of the server with its id respelled, or with the id null if the line is a request. */
function fromServer(line) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return line;
  return withId(line, method === undefined ? id : null);
}

/** A line for the server. The id of an answer becomes null, because the bridge maps these ids. */
const toServer = (line) => (JSON.parse(line).method === undefined ? withId(line, null) : line);

/** The bridged answer to initialize consists of the direct answer and the documented additions. */
function assertOpening(bridged, direct) {
  const is = JSON.parse(bridged);
  const was = JSON.parse(direct);
  assert.ok((is.result.instructions ?? '').startsWith(was.result.instructions ?? ''));
  assert.match(is.result.instructions, /sitter_/);
  assert.equal(is.result.capabilities.tools.listChanged, true);
  for (const kind of ['tools', 'prompts', 'resources']) {
    if (!was.result.capabilities[kind]) continue;
    assert.equal(is.result.capabilities[kind].listChanged, true);
    was.result.capabilities[kind].listChanged = true;
  }
  delete is.result.instructions;
  delete was.result.instructions;
  assert.deepEqual(is, was);
  const ends = /^(.*?)"capabilities".*(serverInfo":\{[^}]*\})/;
  assert.deepEqual(ends.exec(bridged).slice(1), ends.exec(direct).slice(1));
}

/** The bridged tools/list is the direct list, byte for byte, with four more tools at its end. */
function assertTools(bridged, direct) {
  const tools = JSON.stringify(JSON.parse(direct).result.tools);
  const bracket = direct.indexOf(tools) + tools.length - 1;
  assert.ok(direct.includes(tools));
  assert.equal(bridged.slice(0, bracket), direct.slice(0, bracket));
  const rest = direct.slice(bracket);
  assert.ok(bridged.endsWith(rest));
  const added = JSON.parse(`[${bridged.slice(bracket + 1, bridged.length - rest.length)}]`);
  assert.deepEqual(
    added.map(({ name }) => name),
    ['sitter_status', 'sitter_kill', 'sitter_binary_info', 'sitter_child_stderr'],
  );
}

async function compare(t, script, command) {
  const box = new Sandbox(t);
  const args = command(box);
  const direct = await play(box, script, args);
  const bridged = await play(box, script, args, sitting);

  const { lines, sent } = bridged;
  const isOpening = (line) => JSON.parse(line).result?.protocolVersion;
  const isList = (line) => JSON.parse(line).result?.tools;
  assertOpening(lines.find(isOpening), direct.lines.find(isOpening));
  assertTools(fromServer(lines.find(isList)), fromServer(direct.lines.find(isList)));
  const others = (all) => all.filter((line) => !isOpening(line) && !isList(line)).map(fromServer);
  assert.deepEqual(others(lines), others(direct.lines));

  // The bridge adds nothing to what the client sent to the server, except requests for lists.
  const input = bridged.input.split('\n').filter(Boolean);
  const isOwnList = (line) => !sent.includes(line) && /"method":"[a-z/]*\/list"/.test(line);
  assert.deepEqual(input.filter((line) => !isOwnList(line)).map(toServer), sent.map(toServer));
}

/** A result that a client might cache, in the form that the bridge gives it. */
const uncached = (line) =>
  line.includes('"cacheScope"') ? line.replace(/"ttlMs":\d+/, '"ttlMs":0') : line;

async function compareStateless(t, command) {
  const box = new Sandbox(t);
  const args = command(box);
  const direct = await play(box, stateless, args);
  const { lines, sent, input } = await play(box, stateless, args, sitting);

  const isOpening = (line) => JSON.parse(line).result?.supportedVersions;
  const isList = (line) => JSON.parse(line).result?.tools;
  const was = direct.lines.map(uncached);
  assertOpening(lines.find(isOpening), was.find(isOpening));
  assertTools(fromServer(lines.find(isList)), fromServer(was.find(isList)));
  const others = (all) => all.filter((line) => !isOpening(line) && !isList(line)).map(fromServer);
  assert.deepEqual(others(lines), others(was));

  // In the first life of a server, the bridge itself sends only requests for lists.
  const isOwnList = (line) => !sent.includes(line) && /"method":"[a-z/]*\/list"/.test(line);
  const received = input.split('\n').filter((line) => line && !isOwnList(line));
  assert.deepEqual(received, sent);
}

test('with server-everything', (t) => compare(t, everything, () => server('everything')));
test('with server-filesystem', (t) =>
  compare(t, filesystem, ({ project }) => server('filesystem', project)));
test('with server-memory', (t) => compare(t, memory, () => server('memory')));
test('with fake-mcp, which is stateless', (t) =>
  compareStateless(t, () => [fakeMcpPath(), '--era', 'modern', '--everything']));
test('with a server on the second official SDK, which is stateless', (t) =>
  compareStateless(t, (box) => {
    const schema = '"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}';
    const tools = `{"name":"echo",${schema}},{"name":"progress","does":{"progress":3}}`;
    return workshopV2(box.write('plan.json', `{"tools":[${tools}]}`));
  }));
