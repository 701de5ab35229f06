// Loaded before each program that listens. It listens on loopback, even if the program would listen
// on every address. A daemon of a test also gets its port, or 0, from the test, tells on stderr
// which port it has become, and ends when its input ends, so that no daemon outlives the tests.
import { Server } from 'node:net';
import { say } from '../plan.mjs';

const { listen } = Server.prototype;
const { PORT: port, HOST: host = '127.0.0.1', ENDS_WITH_INPUT: endsWithInput } = process.env;

Server.prototype.listen = function (asked, ...rest) {
  const callback = rest.find((argument) => typeof argument === 'function');
  if (port !== undefined) {
    this.once('listening', () => say(`listening on port ${this.address().port}`));
  }
  return listen.call(this, { port: Number(port ?? asked), host }, callback);
};

if (endsWithInput) process.stdin.on('end', () => process.exit()).resume();
