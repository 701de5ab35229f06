// README and docs: each command of an agent, and each that changes the settings of one, is run, and a session is played
// with the command line that it has registered.
import { describe } from 'node:test';
import { pages } from '../support/documents.mjs';
import { testCommands } from '../support/shown_commands.mjs';

for (const page of pages()) describe(page, () => testCommands(page, true));
