// Loaded before each program that listens. It listens on loopback, even if the program would listen
// on every address. A daemon of a test also gets its port, or 0, from the test, tells on stderr
// which port it has become, and ends when its input ends, so that no daemon outlives the tests.
import { Server, isIPv6 } from 'node:net';
import { say } from '../plan.mjs';

const { PORT: givenPort, HOST: host = '127.0.0.1', ENDS_WITH_INPUT: endsWithInput } = process.env;

// Every way to listen ends here. Servers of the conformance suite ask for their port in the next
// line, and listen() with a host would first look up the host.
const bind = Server.prototype._listen2;
Server.prototype._listen2 = function (_address, port, _family, ...rest) {
  bind.call(this, host, Number(givenPort ?? port), isIPv6(host) ? 6 : 4, ...rest);
  if (givenPort !== undefined) say(`listening on port ${this.address().port}`);
};

if (endsWithInput) process.stdin.on('end', () => process.exit()).resume();
