// A registry on loopback that has the packed packages, and nothing else.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

export class Registry {
  #server;
  #packages = new Map();

  /** Serves the packages of a folder until `close`. */
  static async start(folder) {
    const registry = new this();
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.tgz'))) {
      const path = join(folder, name);
      const manifest = JSON.parse(execFileSync('tar', ['-xzOf', path, 'package/package.json']));
      registry.#packages.set(manifest.name, { manifest, bytes: readFileSync(path) });
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

  #answer(request, response) {
    const [, name, isTarball] = request.url.match(/^\/([^/]+)(\/tarball)?$/) ?? [];
    const found = this.#packages.get(name);
    if (!found) {
      response.writeHead(404).end('{}');
    } else if (isTarball) {
      response.end(found.bytes);
    } else {
      const { manifest, bytes } = found;
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      const dist = { tarball: `${this.url}${name}/tarball`, integrity };
      response.end(
        JSON.stringify({
          name,
          'dist-tags': { latest: manifest.version },
          versions: { [manifest.version]: { ...manifest, dist } },
        }),
      );
    }
  }
}
