// The workflows of GitHub, and the check that finds their faults.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { projectFaults, runnerFaults, workflowCheck } from '../../packaging/workflows.mjs';
import { projectDir } from '../real/support/documents.mjs';

const textOf = (name) => readFileSync(join(projectDir, '.github/workflows', name), 'utf8');
const release = textOf('release.yml');
const ci = textOf('ci.yml');

test('the workflows of the project have no fault', async () => {
  assert.deepEqual(await projectFaults(), []);
});

test('a runner of a release that does not exist is found', () => {
  const platforms = {
    one: { runner: 'macos-99' },
    two: { runner: 'ubuntu-24.04' },
    three: {},
    four: { runner: 'windows-2025', builder: 'ubuntu-99' },
  };
  assert.deepEqual(runnerFaults(platforms).map((fault) => fault.split(';')[0]), [
    'one has the runner macos-99',
    'four has the runner ubuntu-99',
  ]);
});

describe('a fault is found:', () => {
  const faultsOf = workflowCheck();

  const faults = {
    'a wrong key': [release, 'timeout-minutes: 90', 'timeout-mintues: 90', /unexpected key "timeout-mintues"/],
    'a wrong expression': [release, 'needs.check.outputs.', 'needs.chek.outputs.', /"chek" is not defined/],
    'a job that is not there': [release, 'needs: try', 'needs: tries', /"tries"/],
    'an action without a commit': [
      release,
      /actions\/checkout@\S+ # \S+/,
      'actions/checkout@v7 # v7.0.1',
      /uses actions\/checkout@v7; name the commit/,
    ],
    'a commit without its version': [release, / # v7\.0\.1$/m, '', /has no version as a comment/],
    'too wide permissions at the top': [release, 'permissions: {}', 'permissions: write-all', /at the top/],
    'no permissions at the top': [release, 'permissions: {}\n', '', /at the top/],
    'another permission at the top': [ci, 'contents: read', 'contents: write', /at the top/],
    'a permission that nobody needs': [release, 'id-token: write', 'packages: write', /publish may write packages/],
    'two permissions in one job': [
      release,
      /contents: read(\s+#.*\s+id-token: write)/,
      'contents: write$1',
      /publish may write contents and id-token/,
    ],
    'all permissions of a job': [
      release,
      /permissions:\n      contents: write/,
      'permissions: write-all',
      /github-release may write all/,
    ],
    'a permission for pull requests': [
      release,
      'workflow_dispatch:',
      'workflow_dispatch:\n  pull_request_target:',
      /publish may write id-token, and pull_request_target starts it; only push and workflow_dispatch may/,
    ],
    'a permission for comments, in a list': [
      release,
      /on:\n  push:\n.*\n  workflow_dispatch:\n/,
      'on: [push, issue_comment]\n',
      /github-release may write contents, and issue_comment starts it/,
    ],
    'a workflow as a job': [
      release,
      '\njobs:\n',
      '\njobs:\n  other:\n    uses: a/b/.github/workflows/c.yml@v1\n\n',
      /the job other uses the workflow a\/b\//,
    ],
    'a checkout that keeps the token': [release, 'persist-credentials: false', 'submodules: true', /could use the token/],
    'a runner that does not exist': [ci, 'runner: [macos-15,', 'runner: [macos-13,', /runs on macos-13/],
    'an expression in a script': [release, '--tag "$GITHUB_REF_NAME"', '--tag "${{ github.ref_name }}"', /an expression/],
    'a script that ShellCheck does not like': [release, '--tag "$GITHUB_REF_NAME"', '--tag $GITHUB_REF_NAME', /SC2086/],
  };
  for (const [name, [text, from, to, expected]] of Object.entries(faults)) {
    test(name, async () => {
      const changed = text.replace(from, to);
      assert.notEqual(changed, text);
      assert.match((await faultsOf(changed, 'x.yml')).join('\n'), expected);
    });
  }
});
