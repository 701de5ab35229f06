// A network between the bridge and a daemon that can fail.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export class Relay {
  /** How many connections there have been. */
  count = 0;
  #sockets = new Set();
  #server;

  static async start(box, port) {
    const relay = new this();
    relay.#server = createServer((near) => {
      ++relay.count;
      const far = connect(port, '127.0.0.1');
      near.pipe(far).pipe(near);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ]) {
        relay.#sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          relay.#sockets.delete(socket);
          other.destroy();
        });
      }
    });
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    relay.url = `http://127.0.0.1:${relay.#server.address().port}/mcp`;
    box.atEnd(() => {
      relay.#server.close();
      relay.cut();
    });
    return relay;
  }

  /** Breaks every connection that is open. */
  cut() {
    for (const socket of this.#sockets) socket.destroy();
  }
}
