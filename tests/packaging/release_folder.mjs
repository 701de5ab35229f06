// A release as people without Node.js download it: small archives of the shape of the real ones, on loopback.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';

export const placed = [
  'bin/mcp-sitter',
  'share/bash-completion/completions/mcp-sitter',
  'share/fish/vendor_completions.d/mcp-sitter.fish',
  'share/man/man1/mcp-sitter.1',
  'share/zsh/site-functions/_mcp-sitter',
];
export const documents = ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES.txt'];

/** Packs an archive into a folder, with a script as the program. `files` replaces contents; null leaves a file out. */
export function packArchive(folder, version, platform, files = {}) {
  const name = `mcp-sitter-${version}-${platform}`;
  const contents = Object.fromEntries([...placed, ...documents].map((path) => [path, `${path} of ${version}\n`]));
  contents['bin/mcp-sitter'] = `#!/bin/sh\necho "mcp-sitter ${version}"\n`;
  for (const [path, text] of Object.entries({ ...contents, ...files })) {
    if (text === null) continue;
    const target = join(folder, name, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text, { mode: path.startsWith('bin/') ? 0o755 : 0o644 });
  }
  execFileSync('tar', ['-czf', `${name}.tar.gz`, name], { cwd: folder });
  return `${name}.tar.gz`;
}

/** The lines that sha256sum prints for these files of a folder. */
export const sums = (folder, names) =>
  names
    .map((name) => `${createHash('sha256').update(readFileSync(join(folder, name))).digest('hex')}  ${name}\n`)
    .join('');

/** Releases on loopback, laid out like those of the real address. */
export class Releases {
  #files = new Map();
  #server;

  static async start() {
    const releases = new this();
    releases.#server = createServer((request, response) => releases.#answer(request.url, response));
    releases.#server.listen(0, '127.0.0.1');
    await once(releases.#server, 'listening');
    return releases;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Adds a file; the last version whose sums are added is the latest. `cutAt` ends the transfer too early. */
  add(version, name, bytes, cutAt = undefined) {
    this.#files.set(`/download/v${version}/${name}`, { bytes, cutAt });
    if (name === 'SHA256SUMS') this.#files.set(`/latest/download/${name}`, { bytes });
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(path, response) {
    const { bytes, cutAt } = this.#files.get(path) ?? {};
    if (bytes === undefined) {
      response.writeHead(404).end('not found');
    } else if (cutAt !== undefined) {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, cutAt), () => response.destroy());
    } else {
      response.end(bytes);
    }
  }
}
