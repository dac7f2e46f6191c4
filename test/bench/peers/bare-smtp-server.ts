import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** The library that our listener is built on, unchanged: accepts messages and discards them. */

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, callback) {
    stream.on('end', () => callback(null));
    stream.resume();
  },
});
server.on('error', () => {});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.server.address() as AddressInfo).port}\n`);
});
