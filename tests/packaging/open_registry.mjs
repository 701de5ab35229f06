// A registry on loopback to which everybody may publish.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

export class OpenRegistry {
  /** What was published, in this order, as name@version. */
  published = [];
  /** The name of a package that the registry refuses. */
  refused;
  #packages = new Map();
  #server;
  #address;

  static async start() {
    const registry = new this();
    registry.#server = createServer((request, response) => registry.#answer(request, response));
    registry.#server.listen(0, '127.0.0.1');
    await once(registry.#server, 'listening');
    registry.#address = `127.0.0.1:${registry.#server.address().port}/`;
    return registry;
  }

  /** The variables with which npm uses this registry and nothing else. */
  env(home) {
    return {
      PATH: process.env.PATH,
      HOME: home,
      npm_config_registry: `http://${this.#address}`,
      [`npm_config_//${this.#address}:_authToken`]: 'anybody',
      npm_config_update_notifier: 'false',
      npm_config_fetch_retries: '0',
    };
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request, response) {
    const name = decodeURIComponent(request.url.slice(1).split('?')[0]);
    const answer = (status, body) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.method === 'PUT') {
      const sent = JSON.parse(await text(request));
      if (name === this.refused) return answer(503, { error: 'not now' });
      const versions = { ...this.#packages.get(name)?.versions, ...sent.versions };
      this.#packages.set(name, { name, 'dist-tags': sent['dist-tags'], versions });
      this.published.push(...Object.keys(sent.versions).map((version) => `${name}@${version}`));
      return answer(201, { ok: true });
    }
    const found = this.#packages.get(name);
    return found ? answer(200, found) : answer(404, { error: 'not found' });
  }
}
