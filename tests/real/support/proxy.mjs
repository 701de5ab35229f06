// A proxy that opens tunnels with CONNECT. Every host is this machine.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';

export class Proxy {
  /** What each CONNECT asked for: {to, authorization}. */
  asked = [];
  #http = createServer((request, response) => {
    this.asked.push({ to: request.url });
    response.writeHead(400).end('only CONNECT');
  });
  #sockets = new Set();

  /** A proxy that answers each CONNECT with this status. */
  static async start(box, status = '200 Connection Established') {
    const proxy = new this();
    proxy.#http.on('connect', (...tunnel) => proxy.#open(status, ...tunnel));
    proxy.#http.listen(0, '127.0.0.1');
    await once(proxy.#http, 'listening');
    proxy.port = proxy.#http.address().port;
    proxy.url = `http://127.0.0.1:${proxy.port}`;
    box.atEnd(() => {
      proxy.#http.close();
      proxy.#http.closeAllConnections();
      for (const socket of proxy.#sockets) socket.destroy();
    });
    return proxy;
  }

  #open(status, request, near, head) {
    const { 'proxy-authorization': authorization } = request.headers;
    this.asked.push({ to: request.url, authorization });
    if (!status.startsWith('200')) {
      near.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const far = connect(Number(request.url.split(':')[1]), '127.0.0.1', () => {
      near.write(`HTTP/1.1 ${status}\r\n\r\n`);
      far.write(head);
      near.pipe(far).pipe(near);
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
