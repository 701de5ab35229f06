// The paths of the programs that the tests use.
import { copyFileSync, existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const testsDir = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(testsDir, 'node_modules');
const agents = join(testsDir, 'agents', 'node_modules');
export const nodeDir = dirname(process.execPath);

function programFrom(variable) {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} has to hold the absolute path of the program`);
  if (!isAbsolute(path)) throw new Error(`${variable} has to be an absolute path: ${path}`);
  if (!existsSync(path)) throw new Error(`${variable} names a file that does not exist: ${path}`);
  return path;
}

/** The program under test. Throws if MCP_SITTER does not name it. */
export const sitterPath = () => programFrom('MCP_SITTER');

/** The server with one flag for each fault. Throws if FAKE_MCP does not name it. */
export const fakeMcpPath = () => programFrom('FAKE_MCP');

/** The sandbox's own copy of fake-mcp, because sitter_kill ends all processes of the same file. */
export function ownFakeMcp(box) {
  const path = box.path('fake-mcp');
  if (!existsSync(path)) copyFileSync(fakeMcpPath(), path);
  return path;
}

/** The command line of a reference server, as a list of words. */
export const server = (name, ...args) => [
  process.execPath,
  join(modules, '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js'),
  ...args,
];

export const conformance = () => join(modules, '.bin', 'conformance');

/** The command line of the server that reads its tools from `planFile`; see plan.mjs. */
export const workshop = (planFile) => [
  process.execPath,
  join(testsDir, 'support', 'workshop.mjs'),
  planFile,
];

/** The same server on the second official SDK, which speaks both eras. */
export const workshopV2 = (planFile) => [
  process.execPath,
  join(testsDir, 'support', 'workshop_v2.mjs'),
  planFile,
];

/** The bridge behind rebuilding.mjs, which rebuilds the server before a call. */
export const rebuilding = (traffic, next, plan, bridge) => [
  process.execPath,
  join(testsDir, 'support', 'rebuilding.mjs'),
  ...[traffic, next, plan, ...bridge],
];

/** A server with the bridge in front of it. */
export const sitting = (command, ...options) => [sitterPath(), ...options, '--', ...command];

// The umbrella package finds its binary with an install script, and install scripts are not run
// here.
export const claude = () => [
  join(agents, '@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude'),
];
export const codex = () => [process.execPath, join(agents, '@openai', 'codex', 'bin', 'codex.js')];
export const gemini = () => [process.execPath, join(agents, '.bin', 'gemini')];
export const qwen = () => [process.execPath, join(agents, '.bin', 'qwen')];
// Only the packages with the programs of Cline and opencode are installed, because the umbrella
// packages bring a program for each kind of x86-64.
export const cline = () => [
  join(agents, '@cline', `cli-${process.platform}-${process.arch}`, 'bin', 'cline'),
];
export const opencode = () => [
  join(agents, `opencode-${process.platform}-${process.arch}`, 'bin', 'opencode'),
];
export const inspector = () => [process.execPath, join(agents, '.bin', 'mcp-inspector')];
