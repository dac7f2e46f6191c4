import t from 'tap';
import type { AcceptOutcome } from '../../../../src/usecases/ports.js';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

for (const [name, cut] of [
  ['reset', (client: SmtpClient) => client.reset()],
  ['closed', (client: SmtpClient) => client.destroy()],
] as const) {
  t.test(`${name} in the middle of DATA: one abort, nothing stored`, async t => {
    const { port, inbound, listener } = await withListener(t);
    const client = await SmtpClient.ready(port);
    await client.openData('a@b.example', ['agent@example.org']);
    const written = inbound.waitFor('write');
    await client.write('Subject: x\r\n\r\nwhole line\r\n');
    await written;
    const aborted = inbound.waitFor('abort');
    cut(client);
    await aborted;
    t.same(inbound.messages, []);
    await listener.stop(0);
    t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
    t.equal(listener.stats().connections, 0);
  });

  t.test(`${name} while the store works: the commit decides, and nobody is told`, async t => {
    const { port, inbound, listener } = await withListener(t);
    let resolve: (outcome: AcceptOutcome) => void = () => {};
    inbound.commitWith = () => new Promise(settle => (resolve = settle));
    const client = await SmtpClient.ready(port);
    await client.openData('a@b.example', ['agent@example.org']);
    const committing = inbound.waitFor('commit');
    await client.write('x\r\n.\r\n');
    await committing;
    cut(client);
    await listener.stop(0);
    resolve({ status: 'accepted', messageIds: [] });
    await new Promise(setImmediate);
    t.match(inbound.bodies, [{ commits: 1, aborts: 0 }]);
    t.equal(listener.stats().acceptedMessages, 1);
  });

  t.test(`${name} while the window is full: one abort`, async t => {
    const { port, inbound, listener } = await withListener(t);
    inbound.isSlow = true;
    const client = await SmtpClient.ready(port);
    await client.openData('a@b.example', ['agent@example.org']);
    const written = inbound.waitFor('write');
    await client.write('x\r\n');
    await written;
    cut(client);
    await listener.stop(0);
    inbound.drain();
    await new Promise(setImmediate);
    t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
  });
}
