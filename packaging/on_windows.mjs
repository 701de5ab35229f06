// On Windows itself: runs the tests of the core and the simulation that Linux has built in build/windows, with the compiler
// of the shipped program. Tests that read files of the machine that built them are left out.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './version.mjs';

const run = (program, ...words) => execFileSync(join(root, 'build/windows/bin', program), words, { stdio: 'inherit' });
run('core_tests.exe', '--gtest_brief=1', '--gtest_filter=-*/JsonSchemaSuiteTest.*:AfterEditTest.TheDocsShow*');
run('sitter_sim.exe', '--seeds', '1000');
