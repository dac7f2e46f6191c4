import type { Test } from 'tap';
import t from 'tap';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { walkTable } from '../../../../src/store/engine/tables.js';
import {
  excerptsTable,
  getExcerptProgress,
  putExcerptProgress,
  removeExcerpt,
} from '../../../../src/store/mailbox/excerpts.js';
import { getCounters } from '../../../../src/store/mailbox/folders.js';
import { blobChunksTable } from '../../../../src/store/records/blobs.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { ExcerptMaking } from '../../../../src/usecases/upkeep/make-excerpts.js';
import { ATTRIBUTION, Desk } from '../with-desk.js';
import { type House, silent, withHouse } from '../with-house.js';
import { index, parseForReal } from '../with-parser.js';

const mail = (type: string, body: string): string =>
  `From: Ann <ann@a.example>\r\nSubject: Re: visit\r\nContent-Type: ${type}; charset=utf-8\r\n\r\n${body}`;

/** Of every kind: short and long, text and HTML, whole and longer than what is read at once. */
const MAIL = [
  mail('text/plain', 'On Monday.\r\n\r\n> When?\r\n'),
  mail('text/html', '<p>Yes</p><blockquote type="cite">When?</blockquote>'),
  mail('text/plain', `${'Größe "x" '.repeat(9_000)}\r\n> q\r\nMore`),
  mail('text/plain', 'word '.repeat(60_000)),
  mail('text/plain', 'Größe '.repeat(250_000)),
  mail('text/html', `<p>Words</p><!--${'x'.repeat(1_100_000)}--><p>more`),
  mail('text/plain', ''),
];

async function furnish(t: Test): Promise<{ house: House; inbox: InboxId; ids: MessageId[] }> {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const ids: MessageId[] = [];
  for (const raw of MAIL) {
    const id = await house.receive(raw, inbox);
    await index(house, id, parseForReal);
    ids.push(id);
  }
  for (let n = 0; n < 25; n++) {
    await sendMessage(new Desk(house).deps, {
      accountId: house.account,
      inboxId: inbox,
      to: [{ address: 'ann@a.example' }],
      subject: `visit ${n}`,
      text: `Hello ${n}\n\n> quoted`,
    });
  }
  await house.receive('never parsed', inbox);
  return { house, inbox, ids };
}

const kept = (house: House) =>
  house.store.read(reader =>
    [...walkTable(reader, excerptsTable)].map(({ key, value }) => [key.toString('hex'), value]),
  );

/** As an older version would have left the store. */
const forget = (house: House) =>
  house.store.write(writer => {
    for (const { key } of [...walkTable(writer, excerptsTable)])
      writer.remove({ ...excerptsTable, encodeKey: (bytes: Buffer) => bytes }, key);
  });

const make = (house: House) => new ExcerptMaking({ ...house, log: silent, attribution: ATTRIBUTION });

t.test('they are those that new mail gets', async t => {
  const { house, inbox, ids } = await furnish(t);
  const asNew = kept(house);
  t.equal(asNew.length, MAIL.length + 25);
  await forget(house);
  const before = house.store.read(
    reader => getCounters(reader, { inboxId: inbox, kind: 'received' }).version,
  );
  await make(house).run(() => false);
  t.strictSame(kept(house), asNew);
  t.ok(
    house.store.read(reader => getCounters(reader, { inboxId: inbox, kind: 'received' }).version) > before,
    'pages that were kept are of before',
  );
  t.strictSame(house.store.read(getExcerptProgress).kind, null);
  t.strictSame(verifyStore(house.store).faults, []);
  await house.store.write(writer => removeExcerpt(writer, ids[0]!));
  t.match(
    verifyStore(house.store).faults,
    [/^missing: excerpt of message/],
    'from then on none may be missing',
  );
});

t.test('a process that ends in between goes on where it was', async t => {
  const { house } = await furnish(t);
  const asNew = kept(house);
  await forget(house);
  let steps = 0;
  do await make(house).run(() => steps++ % 2 === 1);
  while (house.store.read(getExcerptProgress).kind !== null);
  t.strictSame(kept(house), asNew);
});

t.test('content that is damaged holds nothing up', async t => {
  const { house, ids } = await furnish(t);
  await forget(house);
  const { content } = house.message(ids[0]!)!;
  await house.store.write(writer => {
    writer.remove(blobChunksTable, { id: content!.id, index: 0 });
    putExcerptProgress(writer, { version: 0, kind: null, position: null });
  });
  await make(house).run(() => false);
  t.equal(kept(house).length, MAIL.length + 25, 'an older version of the rules is made again');
});
