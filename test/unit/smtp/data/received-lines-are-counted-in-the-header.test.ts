import fc from 'fast-check';
import t from 'tap';
import { ReceivedCounter } from '../../../../src/smtp/message-intake.js';

function count(pieces: readonly string[]): number {
  const counter = new ReceivedCounter();
  for (const piece of pieces) counter.feed(Buffer.from(piece));
  return counter.count;
}

t.test('field names in any letter case, not their look-alikes', async t => {
  t.equal(count(['Received: a\r\nRECEIVED:b\r\nreceived : c\r\n']), 3);
  t.equal(count(['Received-SPF: a\r\nX-Received: b\r\nReceive: c\r\n Received: d\r\nReceivedx:\r\n']), 0);
});

t.test('the body is not looked at', async t => {
  t.equal(count(['Received: a\r\n\r\nReceived: b\r\n']), 1);
  t.equal(count(['\r\nReceived: b\r\n']), 0);
});

t.test('the same at any cut', async t => {
  const line = fc.constantFrom(
    'Received: x',
    'received:',
    'Receive',
    'Re: Received: x',
    '\tReceived: x',
    '',
    'Received',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), lines => {
      const text = lines.map(part => `${part}\r\n`).join('');
      const header = text.split('\r\n\r\n')[0] ?? '';
      const wanted = text.startsWith('\r\n') ? 0 : (header.match(/^received[ \t]*:/gim) ?? []).length;
      for (let at = 0; at <= text.length; at++) {
        if (count([text.slice(0, at), text.slice(at)]) !== wanted) {
          throw new Error(`${JSON.stringify(text)} at ${at}`);
        }
      }
    }),
  );
  t.pass();
});
