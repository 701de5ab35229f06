// The client scenarios of the official conformance suite, with the bridge as the part of the client
// that speaks HTTP.
//
// The scenarios of OAuth (auth/...) do not apply, because the bridge does none: it sends the headers
// that it is given. Neither do those of the extension for skills (sep-2640-...), which say what a
// client does with resources that it has read.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { confined } from './support/daemon.mjs';
import { conformance, sitterPath, testsDir } from './support/programs.mjs';
import { Sandbox } from './support/sandbox.mjs';
import { runToEnd } from './support/wire.mjs';

const scenarios = {
  '2025-06-18': ['initialize', 'tools_call'],
  '2025-11-25': [
    'initialize',
    'tools_call',
    'sse-retry',
    'elicitation-sep1034-client-defaults',
    'json-schema-2020-12-preservation',
  ],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'sep-2322-client-request-state',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
    'json-schema-2020-12-preservation',
  ],
};

// A busy machine is late. To be early would be a fault.
const isLate = ({ id, errorMessage }) =>
  id === 'client-sse-retry-timing' && / late /.test(errorMessage);

// The stateless revision has no opening.
const isOfOpening = ({ name }) => /_initialized?$/.test(name);

for (const [revision, names] of Object.entries(scenarios)) {
  describe(`conformance to ${revision}`, { concurrency: 2 }, () => {
    for (const name of names) {
      test(name, async (t) => {
        const box = new Sandbox(t);
        const client = join(testsDir, 'support', 'conformance_client.mjs');
        const { stdout, stderr } = await runToEnd(
          box,
          [
            ...[process.execPath, ...confined, conformance(), 'client', '--verbose'],
            ...['--command', `${process.execPath} ${client}`],
            ...['--scenario', name, '--spec-version', revision],
          ],
          { env: { MCP_SITTER: sitterPath() } },
        );
        assert.doesNotMatch(stderr, /CLIENT (TIMED OUT|EXITED WITH ERROR)/, stderr);
        const checks = JSON.parse(stdout);
        const those = (...statuses) => checks.filter(({ status }) => statuses.includes(status));
        const faults = those('FAILURE', 'WARNING').filter((check) => !isLate(check));
        assert.deepEqual(faults, []);
        assert.deepEqual(
          those('SKIPPED').filter((check) => !isOfOpening(check)),
          [],
        );
        assert.notDeepEqual(those('SUCCESS'), []);
      });
    }
  });
}
