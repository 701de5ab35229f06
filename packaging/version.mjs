// The version of the project, which only CMakeLists.txt names. "node packaging/version.mjs" prints it.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Whether Node.js was started with this file of ours, and did not load it for another one. */
export function isMain(url) {
  const [, script] = process.argv;
  return script !== undefined && existsSync(script) && realpathSync(script) === fileURLToPath(url);
}

export function projectVersion() {
  const text = readFileSync(join(root, 'CMakeLists.txt'), 'utf8');
  const [, version] = text.match(/^project\([^)]*\bVERSION (\d+\.\d+\.\d+)\s/m) ?? [];
  if (version === undefined) throw new Error('CMakeLists.txt names no version: project(... VERSION x.y.z)');
  return version;
}

if (isMain(import.meta.url)) console.log(projectVersion());
