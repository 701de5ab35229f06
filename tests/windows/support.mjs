// The program for Windows, which wine runs, between a client of this system and a server for Windows.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeMcpPath, sitting } from '../real/support/programs.mjs';
import { Sandbox } from '../real/support/sandbox.mjs';
import { Session } from '../real/support/session.mjs';

/** A sandbox whose project holds fake-mcp as `server.exe`. */
export function projectOf(t) {
  const box = new Sandbox(t);
  copyFileSync(fakeMcpPath(), inProject(box, 'server.exe'));
  return box;
}

export const inProject = (box, name) => join(box.project, name);

/** A session of the official client with the bridge in front of a command. */
export const open = (box, command, options = [], settings = {}) =>
  Session.open(box, sitting(command, ...options), settings);

/** The processes of the server, and of what it has started. */
export const servers = (box) =>
  box.processes().filter(({ command }) => !command.includes('mcp-sitter.exe'));
