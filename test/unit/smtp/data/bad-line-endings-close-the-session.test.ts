import t from 'tap';
import { SmtpClient } from '../../../support/smtp/smtp-client.js';
import { withListener } from '../with-listener.js';

for (const [name, text] of [
  ['a bare CR', 'one\rtwo\r\n.\r\n'],
  ['a bare LF', 'one\ntwo\r\n.\r\n'],
  ['a NUL', 'one\0two\r\n.\r\n'],
  ['an end of DATA of bare LFs', 'one\n.\nMAIL FROM:<mallory@example.net>\r\n'],
] as const) {
  t.test(`${name} is refused once, nothing is stored, nothing behind it runs`, async t => {
    const { port, inbound, listener } = await withListener(t);
    const client = await SmtpClient.ready(port);
    await client.openData('a@b.example', ['agent@example.org']);
    await client.write(text);
    t.equal((await client.expect(554)).enhanced, '5.6.0');
    await client.closed();
    t.equal(client.unread, 0);
    t.same(inbound.messages, []);
    t.match(inbound.bodies, [{ commits: 0, aborts: 1 }]);
    t.match(listener.stats(), { refusedMessages: 1, refusals: { line_ending: 1 } });
  });
}
