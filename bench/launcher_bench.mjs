// What the launcher of the npm package costs beside the bare program: node bench/launcher_bench.mjs [--rounds N]
// [--server COMMAND] [--node NODE...]. It needs the packages of ./dev package. All processes run on the last core, and the
// ways to start take turns.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const project = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    server: { type: 'string', default: join(project, 'build/bench/bin/fake-mcp') },
    node: { type: 'string', multiple: true, default: [process.execPath] },
  },
});
const opening = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
});

/** The command as npm installs it. */
function installed(folder) {
  const packed = join(project, 'build/package/npm');
  const platform = `${process.platform}-${process.arch}`;
  const modules = join(folder, 'node_modules');
  cpSync(join(packed, 'mcp-sitter-native'), join(modules, 'mcp-sitter-native'), { recursive: true });
  cpSync(join(packed, platform), join(modules, '@mcp-sitter', platform), { recursive: true });
  return {
    launcher: join(modules, 'mcp-sitter-native/bin/mcp-sitter.mjs'),
    program: join(modules, '@mcp-sitter', platform, 'bin/mcp-sitter'),
  };
}

/** The ways to start: the bare program, and each Node.js with and without process.execve. */
function waysTo({ launcher, program }) {
  const ways = [['the program', [program]]];
  for (const node of options.node) {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    const replaces = execFileSync(node, ['-p', 'typeof process.execve'], { encoding: 'utf8' }) === 'function\n';
    const without = ['--import', 'data:text/javascript,process.execve=undefined'];
    if (replaces) ways.push([`Node.js ${version}, replaced`, [node, launcher]]);
    ways.push([`Node.js ${version}, stays`, [node, ...(replaces ? without : []), launcher]]);
  }
  return ways;
}

const statusOf = (pid, field) => Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(`${field}:\\s+(\\d+)`)[1]);
const childrenOf = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

/** The processes between client and server. */
function between(pid, server) {
  const below = childrenOf(pid).flatMap((child) => between(child, server));
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0];
  return command === server ? below : [pid, ...below];
}

/** Milliseconds to the answer to the opening, and the resident kilobytes of all processes that are not the server. */
async function measure(command) {
  const core = String(availableParallelism() - 1);
  const server = resolve(options.server);
  const words = ['-c', core, ...command, '--', server, '--fast'];
  const begin = performance.now();
  const child = spawn('taskset', words, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise((done) => child.on('close', done));
  child.stdin.write(`${opening}\n`);
  for await (const line of createInterface({ input: child.stdout })) {
    if (JSON.parse(line).id === 1) break;
  }
  const start = performance.now() - begin;
  const memory = between(child.pid, server).reduce((sum, pid) => sum + statusOf(pid, 'VmRSS'), 0);
  child.stdin.end();
  child.stdout.resume();
  await ended;
  return { start, memory };
}

function quantile(numbers, part) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * part)];
}

const folder = mkdtempSync(join(tmpdir(), 'sitter-launcher-bench-'));
try {
  const ways = waysTo(installed(folder));
  const rows = ways.map(() => []);
  for (let round = 0; round <= Number(options.rounds); ++round) {
    for (const [index, [, command]] of ways.entries()) {
      const figures = await measure(command);
      // The first round reads the files into memory.
      if (round > 0) rows[index].push(figures);
    }
  }
  console.log('| | start, ms | ratio [quartiles] | resident, MB |\n|---|---:|---|---:|');
  for (const [index, [name]] of ways.entries()) {
    const starts = rows[index].map(({ start }) => start);
    const ratios = starts.map((start, round) => start / rows[0][round].start);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(ratios, part).toFixed(2));
    const memory = quantile(rows[index].map((row) => row.memory), 0.5) / 1024;
    console.log(`| ${name} | ${quantile(starts, 0.5).toFixed(1)} | x ${middle} [${low} ${high}] | ${memory.toFixed(1)} |`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
