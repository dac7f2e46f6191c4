import { createHash } from 'node:crypto';
import t from 'tap';
import type { TransferEncoding } from '../../../../src/domain/message-parts.js';
import { decodeTransfer } from '../../../../src/mail/read/transfer-encoding.js';
import { openAttachment } from '../../../../src/usecases/mailbox/read-message.js';
import { turnsAtMost, turnsDuring } from '../../../support/turns.js';
import { withHouse } from '../with-house.js';
import { attached, index, prepared } from '../with-parser.js';

const BYTES = 12 * 1024 * 1024;
/** However large a file is, so much of it is decoded before others have a turn. */
const STEP_BYTES = 256 * 1024;

/** What takes longest to decode, and what comes to nothing: no client that reads slowly ever gives the loop free. */
const BODIES: readonly (readonly [what: string, encoding: TransferEncoding, unit: string])[] = [
  ['lines of base64', 'base64', `${'QUJD'.repeat(19)}\r\n`],
  ['padding behind every character', 'base64', 'A='],
  ['characters that are not base64', 'base64', '!'],
  ['soft breaks that break nothing', 'quoted-printable', '= '],
];

for (const [what, encoding, unit] of BODIES) {
  t.test(`12 MiB of ${what}`, async t => {
    const house = await withHouse(t);
    const raw = Buffer.alloc(BYTES, unit);
    const hash = createHash('sha256');
    let size = 0;
    async function* whole(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < raw.length; at += 65_536) yield raw.subarray(at, at + 65_536);
    }
    for await (const piece of decodeTransfer(encoding, whole())) {
      hash.update(piece);
      size += piece.length;
    }
    const file = { ...attached('a1', null, raw), encoding, size, sha256: hash.digest('base64url') };
    const id = await house.receive(raw, await house.addInbox('agent'));
    await index(house, id, async () => ({ status: 'parsed', prepared: prepared({}, [file]) }));

    let read = 0;
    const readAll = async (): Promise<void> => {
      read = 0;
      const { bytes } = openAttachment(house, {
        accountId: house.account,
        messageId: id,
        attachmentId: 'a1',
      });
      for await (const piece of bytes) read += piece.length;
    };
    const turns = await turnsAtMost(readAll);
    t.equal(read, size);
    t.ok(turns >= BYTES / STEP_BYTES, `${turns} turns of the loop`);
    const { longestMs } = await turnsDuring(readAll);
    t.comment(`longest turn ${longestMs.toFixed(1)} ms`);
  });
}
