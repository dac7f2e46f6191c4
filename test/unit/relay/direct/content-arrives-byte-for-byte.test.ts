import t from 'tap';
import { deliverOne, withOneHost } from './with-hosts.js';

const header = 'Subject: x\r\n\r\n';
const contents: readonly (readonly [string, Buffer])[] = [
  ['dots at the start of every line', Buffer.from(`${header}${'.\r\n..\r\n.x\r\n\r\n'.repeat(40_000)}`)],
  ['a message that is a dot', Buffer.from(`${header}.\r\n`)],
  ['lines of 998 octets', Buffer.from(`${header}${`${'x'.repeat(998)}\r\n`.repeat(300)}`)],
  ['5 MB', Buffer.from(`${header}${`${'y'.repeat(76)}\r\n`.repeat(67_000)}`)],
  [
    'controls and all of 7 bits',
    Buffer.from(
      `${header}${Array.from({ length: 127 }, (_, at) => (at === 9 || at === 12 ? '' : String.fromCharCode(at + 1))).join('')}\r\n`,
    ),
  ],
];

for (const [claim, content] of contents) {
  t.test(claim, async t => {
    const { server, deliverer } = await withOneHost(t);
    t.match(await deliverOne(deliverer, { content }), { state: 'delivered' });
    t.equal(server.submissions.length, 1);
    t.ok(server.submissions[0]?.content.equals(content));
    t.equal(server.submissions[0]?.mailParameters, ` SIZE=${content.length}`);
  });
}

t.test('a last line without its line end gets one', async t => {
  const { server, deliverer } = await withOneHost(t);
  t.match(await deliverOne(deliverer, { content: `${header}.` }), { state: 'delivered' });
  t.equal(server.submissions[0]?.wire.toString(), `${header}..\r\n.\r\n`);
});
