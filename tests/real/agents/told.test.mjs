// What the model reads when its server has changed, crashed or not been built, in whole
// conversations with a server on the official SDK. Claude Code lists the tools again after a
// change; Codex never does. docs/what-the-model-reads.md shows the texts.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { Claude } from '../support/claude.mjs';
import { Codex } from '../support/codex.mjs';
import { MessagesApi, ResponsesApi } from '../support/model_api.mjs';
import { sitting, testsDir } from '../support/programs.mjs';
import { Sandbox } from '../support/sandbox.mjs';
import { until } from '../support/waiting.mjs';

// An agent has these members:
//   begin     registers a command as the server, and returns the agent
//   named     returns the agent's name for a tool of the server
//   hint      what an agent that never lists the tools again reads about a new tool
//   toolsOf   the names of the tools that a request to the model offers
//   readIn    what the model reads in a request about its last call

const claudeCode = {
  name: 'Claude Code',
  async begin(box, command) {
    const agent = new Claude(box);
    agent.env.ENABLE_TOOL_SEARCH = 'false';
    await agent.register(command);
    return agent;
  },
  named: (tool) => `mcp__dev__${tool}`,
  hint: [],
  toolsOf: MessagesApi.toolsOf,
  readIn: (request) => MessagesApi.resultIn(request).text,
};

const codexCli = {
  name: 'Codex',
  async begin(box, command) {
    const agent = new Codex(box);
    await agent.register(command);
    return agent;
  },
  named: (tool) => `mcp__dev/${tool}`,
  hint: [
    'call a new tool with sitter_call {"tool": "welcome", "arguments": {...}} if it is not in your list of tools; if sitter_call is deferred, search for "sitter_call"',
  ],
  toolsOf: ResponsesApi.toolsOf,
  // Codex writes the time of the call before each result.
  readIn: (request) =>
    ResponsesApi.resultIn(request).replace(/^Wall time: .* seconds\nOutput:\n/, ''),
};

/** The source of a server with one tool. `more` is code that runs before the server is open. */
const greeter = ({ tool = 'greet', answer = 'hello', more = '' } = {}) => `
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'greeter', version: '1.0.0' });
server.registerTool('${tool}', { description: 'Greets' }, () => ({
  content: [{ type: 'text', text: '${answer}' }],
}));
${more}
await server.connect(new StdioServerTransport());
`;

/** The same on the lower level of the SDK, where the server itself knows which tools there are. */
const lowGreeter = ({ tool = 'greet', answer = 'hello' } = {}) => `
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';

const info = { name: 'greeter', version: '1.0.0' };
const server = new Server(info, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: '${tool}', inputSchema: { type: 'object' } }],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }) => {
  if (name === '${tool}') return { content: [{ type: 'text', text: '${answer}' }] };
  throw new McpError(ErrorCode.InvalidParams, \`Tool \${name} not found\`);
});
await server.connect(new StdioServerTransport());
`;

/** The directory in which the agent and the server run. */
class Project {
  constructor(t) {
    this.box = new Sandbox(t);
    symlinkSync(join(testsDir, 'node_modules'), this.box.path('node_modules'));
  }

  write(name, text) {
    mkdirSync(dirname(join(this.box.project, name)), { recursive: true });
    return this.box.write(join('project', name), text);
  }

  /** Does something that ends the process that runs the server, and waits for its end. */
  async ends(act) {
    const { pid } = this.box
      .processes()
      .find(({ command }) => /^\S*node server\.mjs$/.test(command));
    act(pid);
    await until(
      () => !existsSync(`/proc/${pid}`),
      () => 'the end of the server',
    );
  }
}

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** A text of these lines, each of them a string or a pattern. An agent may indent them. */
const textOf = (lines) =>
  new RegExp(
    `^${lines.map((line) => (typeof line === 'string' ? escaped(line) : line.source)).join('\n *')}$`,
  );

/** The first line of the notice about a restart. Ages and numbers differ. */
const restarted = (previous, { spawn = 2, built = '.*' } = {}) =>
  new RegExp(
    String.raw`\[mcp-sitter\] server restarted \(spawn #${spawn}, pid \d+, startup .*s\)\. path: .*\. ` +
      String.raw`binary v1\.0\.0 changed ${built}\. previous: ${previous}`,
  );

const direct = ['node', 'server.mjs'];

/**
 * Plays a conversation. In each step the model calls the tool `calls`, after `first` was done. In
 * its next request it must read the lines `reads`.
 */
async function play(agent, { box }, { command = direct, options = [] }, steps) {
  const { named } = agent;
  const session = await agent.begin(box, sitting(command, ...options));
  const turns = steps.map(({ first, calls }) => async () => {
    await first?.();
    return { tool: named(calls) };
  });
  const requests = await session.converse(...turns);
  assert.equal(requests.length, steps.length + 1);
  // Otherwise the first step may have come before the start of the server.
  assert.ok(agent.toolsOf(requests[0]).includes(named('greet')));
  steps.forEach(({ reads }, i) => {
    if (reads) assert.match(agent.readIn(requests[i + 1]), textOf(reads));
  });
  await box.nothingLeft();
}

for (const agent of [claudeCode, codexCli]) {
  describe(`the model of ${agent.name} reads`, () => {
    const renamed = (spawn) =>
      restarted(
        String.raw`killed by sitter_kill after .*\. tools: \+1 added \(welcome\), -1 removed \(greet\)\.`,
        { spawn },
      );
    const newTools = [
      'welcome: no parameters',
      ...agent.hint,
      /the definitions of the tools grew by \d+ bytes to \d+/,
    ];

    test('whose code answers after an edit, a crash, an exception and a rename', async (t) => {
      const project = new Project(t);
      const more = `
process.on('SIGUSR2', () => {
  for (const step of ['opening', 'reading', 'checking']) console.error(step, 'the index');
  console.error('fatal: index of row 17 is out of range');
  process.exit(3);
});
process.on('SIGPWR', () => {
  throw new Error('index of row 17 is out of range');
});`;
      project.write('server.mjs', greeter({ more }));

      await play(agent, project, {}, [
        // After an edit without a kill: that the old code has answered, and only once. mcp-sitter looks at most once a
        // second, so no call comes before the edit.
        {
          first: () => project.write('server.mjs', greeter({ answer: 'good day', more })),
          calls: 'greet',
          reads: [
            /\[mcp-sitter\] server\.mjs changed (just now|.* ago) and this answer is still the old code's: call sitter_kill \{"restart": true\}, then call again/,
            'hello',
          ],
        },
        { calls: 'greet', reads: ['hello'] },
        { calls: 'sitter_kill' },
        { calls: 'greet', reads: [restarted('killed by sitter_kill after .*'), 'good day'] },
        // After a crash between two calls: the last three lines on stderr.
        {
          first: () => project.ends((pid) => process.kill(pid, 'SIGUSR2')),
          calls: 'greet',
          reads: [
            restarted(String.raw`⚠ crashed \(exit 3\) after .*`, { spawn: 3 }),
            'its last words on stderr (sitter_child_stderr shows more):',
            '| reading the index',
            '| checking the index',
            '| fatal: index of row 17 is out of range',
            'good day',
          ],
        },
        { calls: 'greet', reads: ['good day'] },
        // After an uncaught exception between two calls: the error, which stands above its stack.
        {
          first: () => project.ends((pid) => process.kill(pid, 'SIGPWR')),
          calls: 'greet',
          reads: [
            restarted(String.raw`⚠ crashed \(exit 1\) after .*`, { spawn: 4 }),
            'its last words on stderr (sitter_child_stderr shows more):',
            /\| file:.*server\.mjs:16/,
            "|   throw new Error('index of row 17 is out of range');",
            '| Error: index of row 17 is out of range',
            'good day',
          ],
        },
        // After a rename, under the old name: the new name before a failed result.
        { calls: 'sitter_kill' },
        {
          first: () => project.write('server.mjs', greeter({ tool: 'welcome' })),
          calls: 'greet',
          reads: [renamed(5), ...newTools, 'MCP error -32602: Tool greet not found'],
        },
      ]);
    });

    test('after a rename, under the old name: the new name behind an error', async (t) => {
      const project = new Project(t);
      project.write('server.mjs', lowGreeter());

      await play(agent, project, {}, [
        { calls: 'sitter_kill' },
        {
          first: () => project.write('server.mjs', lowGreeter({ tool: 'welcome' })),
          calls: 'greet',
          // Agents write words of their own before the message of an error.
          reads: [/([^]*: )?MCP error -32602: Tool greet not found/, '', renamed(2), ...newTools],
        },
      ]);
    });

    test('after an edit under node --watch: what has changed, with the first new answer', async (t) => {
      const project = new Project(t);
      project.write('server.mjs', greeter());

      await play(agent, project, { command: ['node', '--watch', 'server.mjs'] }, [
        { calls: 'greet', reads: ['hello'] },
        {
          first: () =>
            project.ends(() => project.write('server.mjs', greeter({ tool: 'welcome' }))),
          calls: 'greet',
          reads: [
            restarted(
              String.raw`restarted itself after .*\. tools: \+1 added \(welcome\), -1 removed \(greet\)\.`,
            ),
            ...newTools,
            'MCP error -32602: Tool greet not found',
          ],
        },
      ]);
    });

    test('after a failed build: the error, and later that the program is older', async (t) => {
      const project = new Project(t);
      const anHourAgo = new Date(Date.now() - 3600_000);
      utimesSync(project.write('dist/server.mjs', greeter()), anHourAgo, anHourAgo);
      const command = ['node', 'dist/server.mjs'];
      const build = 'node --check src/server.mjs && cp src/server.mjs dist/server.mjs';

      await play(agent, project, { command, options: ['--build', build] }, [
        {
          first: () => project.write('src/server.mjs', greeter({ more: 'const limit = ;' })),
          calls: 'sitter_rebuild',
          reads: [
            /\[mcp-sitter\] the build failed \(exit 1\) after .*s\. The server that ran before was not touched and serves on\./,
            'Output of the build (sitter_build_log shows more):',
            '1 error:',
            "SyntaxError: Unexpected token ';'",
            /[^]*/,
          ],
        },
        { calls: 'sitter_kill' },
        {
          calls: 'greet',
          reads: [
            restarted('killed by sitter_kill after .*', { built: '1[.]0 hours ago' }),
            /the build failed \(exit 1\) after .*s, so this is the program from before it; fix the error and build again \(sitter_build_log shows the build\)/,
            'hello',
          ],
        },
      ]);
    });
  });
}
