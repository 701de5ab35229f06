// A registry on loopback that has the packed packages, and nothing else.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';

// Some package managers refuse a version that is younger than a day.
const publishedAt = '2020-01-01T00:00:00.000Z';

export class Registry {
  #server;
  #versions = new Map();

  /** Serves the packages of these folders until `close`. The versions in the last folder are the latest. */
  static async start(...folders) {
    const registry = new this();
    for (const folder of folders) {
      for (const name of readdirSync(folder).filter((each) => each.endsWith('.tgz'))) {
        registry.#add(join(folder, name));
      }
    }
    registry.#server = createServer((request, response) => registry.#answer(request, response));
    registry.#server.listen(0, '127.0.0.1');
    await once(registry.#server, 'listening');
    return registry;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/`;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #add(path) {
    const manifest = JSON.parse(execFileSync('tar', ['-xzOf', path, 'package/package.json']));
    const versions = this.#versions.get(manifest.name) ?? [];
    versions.push({ manifest, file: basename(path), bytes: readFileSync(path) });
    this.#versions.set(manifest.name, versions);
  }

  #answer(request, response) {
    const [, name, file] = decodeURIComponent(request.url).match(/^\/((?:@[^/]+\/)?[^/]+)(?:\/-\/(.+))?$/) ?? [];
    const versions = this.#versions.get(name);
    const found = file && versions?.find((each) => each.file === file);
    if (found) {
      response.end(found.bytes);
    } else if (versions && !file) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(this.#document(name, versions)));
    } else {
      response.writeHead(404).end('{}');
    }
  }

  #document(name, versions) {
    const rows = versions.map(({ manifest, file, bytes }) => {
      const dist = {
        tarball: `${this.url}${name}/-/${file}`,
        integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
        shasum: createHash('sha1').update(bytes).digest('hex'),
      };
      return [manifest.version, { ...manifest, dist }];
    });
    return {
      name,
      'dist-tags': { latest: rows.at(-1)[0] },
      versions: Object.fromEntries(rows),
      time: Object.fromEntries(rows.map(([version]) => [version, publishedAt])),
    };
  }
}
