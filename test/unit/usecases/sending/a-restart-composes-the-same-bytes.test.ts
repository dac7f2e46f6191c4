import fc from 'fast-check';
import t from 'tap';
import type { SendInput } from '../../../../src/contract/sending.js';
import type { MessageId } from '../../../../src/domain/ids.js';
import { CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { updateInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { ACCEPTED } from '../../../support/sending/scripted-relay.js';
import { bodyText, file, mailbox, subject } from '../../mail/write/outgoing-messages.js';
import { pattern } from '../../store/with-blobs.js';
import { faultsOf, receiptOf, type SendingHouse, withSending } from './with-sending.js';

const mailboxes = fc.array(mailbox, { maxLength: 4 });
const given: fc.Arbitrary<Partial<SendInput>> = fc.record({
  to: fc.array(mailbox, { minLength: 1, maxLength: 4 }),
  cc: mailboxes,
  bcc: mailboxes,
  subject,
  text: bodyText.map(text => (text.isWellFormed() && text.trim() !== '' ? text : 'text')),
  html: fc.option(
    bodyText.filter(html => html.isWellFormed()),
    { nil: undefined },
  ),
  attachments: fc.array(
    file.map(({ filename, type, bytes }) => ({
      filename,
      type,
      content: Buffer.from(bytes).toString('base64'),
    })),
    { maxLength: 3 },
  ),
});

/** Sends, and composes again what was sent: the bytes of the process that reserved it, and those of the next one. */
async function bothWays(
  house: SendingHouse,
  fields: Partial<SendInput>,
  between: () => Promise<unknown> = async () => {},
) {
  house.restart();
  const { send } = house.side;
  let id: MessageId | undefined;
  let first: Uint8Array | undefined;
  send.queue.offer = ([offered]) => {
    id = offered?.id;
    first = id === undefined ? undefined : send.inFlight.take(id);
  };
  await receiptOf(house.submit(fields));
  if (id === undefined || first === undefined) throw new Error('nothing was offered');
  await between();
  house.restart();
  house.side.kept.push(id);
  await house.side.workAll();
  const attempt = house.relay.attempts.at(-1);
  if (attempt?.id !== id) throw new Error('it was not handed over again');
  return { attempt, first, record: house.sent(id)! };
}

t.test('whatever is sent, the next process composes the same bytes from the store', async t => {
  const house = await withSending(t, { responseTimeoutMs: 1 });
  await fc.assert(
    fc.asyncProperty(given, async fields => {
      house.now.ms += 997;
      const { attempt, first } = await bothWays(house, fields);
      if (!Buffer.from(first).equals(attempt.content)) throw new Error('other bytes');
    }),
    { numRuns: 60 },
  );
  t.same(faultsOf(house), []);
});

t.test('also of many chunks, and when the sender has another name since', async t => {
  const house = await withSending(t, { responseTimeoutMs: 1 });
  const rename = (senderName: string) =>
    updateInbox(house, { accountId: house.account, inboxId: house.inboxId, sender_name: senderName });
  await rename('Ann Lee');
  house.relay.answer = ACCEPTED;
  const parent = await receiptOf(house.submit());
  await house.side.workAll();
  const line = `${'Zürich – '.repeat(20)}\n`;
  const long = line.repeat(Math.ceil((3 * CHUNK_BYTES) / Buffer.byteLength(line)));
  const fields = {
    cc: [{ address: 'bob@remote.example', name: 'Bob Ünal' }],
    bcc: [{ address: 'Bob@Remote.Example' }, { address: 'ann@REMOTE.example' }, { address: 'eve@b.example' }],
    text: long,
    html: `<html><body><p>${long}</p></body></html>`,
    attachments: [
      {
        filename: 'data ü.bin',
        type: 'application/octet-stream',
        content: pattern(5 * CHUNK_BYTES + 7).toString('base64'),
      },
      { filename: 'empty.txt', type: 'text/plain', content: '' },
    ],
    in_reply_to: parent.message.id,
  };
  const { attempt, first, record } = await bothWays(house, fields, () => rename('Another Name'));
  t.ok(record.content.size > CHUNK_BYTES);
  t.match(record, { files: [{ blob: { size: 5 * CHUNK_BYTES + 7 } }, {}] });
  t.ok(Buffer.from(first).equals(attempt.content), 'the same bytes');
  const header = Buffer.from(attempt.content).toString('latin1').split('\r\n\r\n', 1)[0];
  t.match(header, /^From: Ann Lee <agent@example\.org>$/m, 'the name of the reservation');
  t.match(header, `In-Reply-To: <${parent.message.id}@example.org>`);
  t.same(attempt.envelope, {
    from: 'agent@example.org',
    recipients: ['ann@remote.example', 'bob@remote.example', 'Bob@Remote.Example', 'eve@b.example'],
  });
});
