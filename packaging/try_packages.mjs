// Installs the packed packages of a folder as a user would, once with npm and once with install.sh, on Windows from the
// .zip, and plays a session through each: node packaging/try_packages.mjs FOLDER. Only the caches of npm stay behind.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { playSession } from './session.mjs';
import { projectVersion, root } from './version.mjs';

const run = promisify(execFile);
if (process.argv.length !== 3) {
  console.error('try_packages: say one folder with packed packages');
  process.exit(2);
}
const folder = resolve(process.argv[2]);
const version = projectVersion();
const platform = `${process.platform}-${process.arch}`;
const isWindows = process.platform === 'win32';
const place = mkdtempSync(join(tmpdir(), 'sitter-try-'));

function packed(name) {
  if (!readdirSync(folder).includes(name)) throw new Error(`${folder} has no ${name}; ./dev package makes it`);
  return join(folder, name);
}

/** Installs with npm, and returns the command that starts the program. */
async function installWithNpm(prefix) {
  const packages = [`mcp-sitter-native-${version}.tgz`, `mcp-sitter-${platform}-${version}.tgz`].map(packed);
  // The packages for other platforms are not published yet. Offline, npm leaves them out.
  const words = ['install', '--global', '--offline', '--no-audit', '--no-fund', '--prefix', prefix, ...packages];
  // There, npm is a batch file.
  await run('npm', words, { shell: isWindows });
  if (isWindows) return [process.execPath, join(prefix, 'node_modules/mcp-sitter-native/bin/mcp-sitter.mjs')];
  return [join(prefix, 'bin/mcp-sitter')];
}

async function installFromZip(prefix) {
  const name = `mcp-sitter-${version}-${platform}`;
  const command = `Expand-Archive -LiteralPath '${packed(`${name}.zip`)}' -DestinationPath '${prefix}'`;
  await run('powershell', ['-NoProfile', '-Command', command]);
  return [join(prefix, name, 'bin/mcp-sitter.exe')];
}

async function installWithScript(prefix) {
  packed(`mcp-sitter-${version}-${platform}.tar.gz`);
  const server = createServer((request, response) => {
    createReadStream(join(folder, basename(request.url))).on('error', () => response.destroy()).pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const from = `http://127.0.0.1:${server.address().port}`;
    await run(join(root, 'packaging/install.sh'), ['--from', from, '--prefix', prefix]);
  } finally {
    server.close();
  }
  return [join(prefix, 'bin/mcp-sitter')];
}

try {
  const other = isWindows ? { zip: installFromZip } : { 'install.sh': installWithScript };
  for (const [name, install] of Object.entries({ npm: installWithNpm, ...other })) {
    const [command, ...words] = await install(join(place, name));
    const told = await playSession(command, words);
    console.log(`${platform}, installed with ${name}: ${told}`);
  }
} catch (error) {
  console.error(`try_packages: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}
