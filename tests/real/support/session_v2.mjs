// The second official client, which speaks both eras.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Session } from './session.mjs';

export class SessionV2 extends Session {
  static Client = Client;
  static Transport = StdioClientTransport;

  call(name, args = {}, options) {
    return this.client.callTool({ name, arguments: args }, options);
  }
}

/**
 * This client usually asks a second process for the era. With a transport class that it does not
 * know, it asks the process that it then uses.
 */
export class SessionInPlace extends SessionV2 {
  static Transport = class extends StdioClientTransport {};
}
