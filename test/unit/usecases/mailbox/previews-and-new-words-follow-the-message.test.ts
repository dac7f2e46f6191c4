import type { Test } from 'tap';
import t from 'tap';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { walkTable } from '../../../../src/store/engine/tables.js';
import { excerptsTable } from '../../../../src/store/mailbox/excerpts.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { reparseMessage } from '../../../../src/usecases/inbound/index-message.js';
import { deleteMessage, trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { previewsOf } from '../../../../src/usecases/mailbox/previews.js';
import { getMessageDetail, getSentDetail } from '../../../../src/usecases/mailbox/read-message.js';
import { sendMessage } from '../../../../src/usecases/sending/recipes.js';
import { getThreadDetail } from '../../../../src/usecases/threads/read-thread.js';
import { Desk, readStream } from '../with-desk.js';
import { DAY_MS, type House, withHouse } from '../with-house.js';
import { index, parseForReal } from '../with-parser.js';

const HEADER =
  'From: Ann <ann@a.example>\r\nTo: agent@example.org\r\nSubject: Re: visit\r\nMessage-ID: <1@a.example>\r\n';
const ANSWER = 'On Monday, "early".\r\n\r\nOn 3/4/26 10:00, Agent wrote:\r\n> When?\r\n\r\n-- \r\nAnn\r\n';

const textMail = (body: string): string =>
  `${HEADER}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${body}`;
const htmlMail = (body: string): string => `${HEADER}Content-Type: text/html; charset=utf-8\r\n\r\n${body}`;

async function received(house: House, inbox: InboxId, mail: string): Promise<MessageId> {
  const id = await house.receive(mail, inbox);
  await index(house, id, parseForReal);
  return id;
}

type Content = { reply_text: string | null; text: string | null; html: string | null };

async function contentOf(house: House, messageId: MessageId): Promise<Content> {
  const detail = getMessageDetail(house, { accountId: house.account, messageId });
  return (await readStream<{ content: Content }>(detail)).content;
}

const preview = (house: House, id: MessageId) => JSON.parse(previewsOf(house, [id])[0] ?? '');
const kept = (house: House) => house.store.read(reader => [...walkTable(reader, excerptsTable)].length);
const isSound = (t: Test, house: House) => t.strictSame(verifyStore(house.store).faults, []);

t.test('a received answer shows its new words, as text or from HTML', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const text = await received(house, inbox, textMail(ANSWER));
  t.equal((await contentOf(house, text)).reply_text, 'On Monday, "early".');
  t.strictSame(preview(house, text), { text: 'On Monday, "early".', truncated: false, source: 'reply_text' });
  const html = await received(
    house,
    inbox,
    htmlMail('<p>Yes &amp; no</p><blockquote type="cite">When?</blockquote>'),
  );
  t.equal((await contentOf(house, html)).reply_text, 'Yes & no');
  const none = await received(house, inbox, textMail('> When?'));
  t.equal((await contentOf(house, none)).reply_text, '');
  t.strictSame(preview(house, none), { text: '', truncated: false, source: 'reply_text' });
  isSound(t, house);
});

t.test('new words of every length come whole, beside their text', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  // Held in one chunk, and in several, with characters of every length and escapes across their ends.
  for (const count of [10, 1_000, 12_000]) {
    const words = 'Größe "日本" \u{1f600}\\ '.repeat(count).trimEnd();
    const id = await received(house, inbox, textMail(`${words}\r\n\r\n> q\r\n\r\nAnd more\r\n`));
    const content = await contentOf(house, id);
    t.equal(content.reply_text, `${words}\n\nAnd more`, `${count} times`);
    t.equal(content.text?.trimEnd(), `${words}\n\n> q\n\nAnd more`);
    const { thread_id: threadId } = await readStream<{ thread_id: string }>(
      getMessageDetail(house, { accountId: house.account, messageId: id }),
    );
    const thread = await readStream<{ messages: { content: Content }[] }>(
      getThreadDetail(house, { accountId: house.account, threadId, limit: 1, cursor: null }),
    );
    t.equal(thread.messages[0]?.content.reply_text, `${words}\n\nAnd more`, 'in its conversation too');
  }
});

t.test('what is too long is not told apart', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const id = await received(house, inbox, textMail('word '.repeat(60_000)));
  t.equal((await contentOf(house, id)).reply_text, null);
  t.match(preview(house, id), { truncated: true, source: 'text' });
});

t.test('a sent message shows what was written, without the line of the service', async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const desk = new Desk(house);
  const text = 'Hello "you"\n\nOn 3/4/26 10:00, Ann wrote:\n> When?';
  const receipt = await sendMessage(desk.deps, {
    accountId: house.account,
    inboxId: inbox,
    to: [{ address: 'ann@a.example' }],
    subject: 'Re: visit',
    text,
    html: '<p>Hello</p>',
  });
  const messageId = receipt.message.id as MessageId;
  const detail = await readStream<{ reply_text: string; submission: object }>(
    getSentDetail(house, { accountId: house.account, messageId }),
  );
  t.equal(detail.reply_text, 'Hello "you"');
  t.match(detail.submission, { text: `${text}\n\nSent via Postern`, subject: 'Re: visit', attachments: [] });
  t.strictSame(preview(house, messageId), { text: 'Hello "you"', truncated: false, source: 'reply_text' });
  const { thread_id: threadId } = receipt.message;
  const thread = await readStream<{ messages: { reply_text: string }[] }>(
    getThreadDetail(house, { accountId: house.account, threadId: `${threadId}`, limit: 1, cursor: null }),
  );
  t.equal(thread.messages[0]?.reply_text, 'Hello "you"');
  isSound(t, house);
});

t.test(
  'they are there while the message is: Trash keeps them, a new parse makes them anew, the end takes them',
  async t => {
    const house = await withHouse(t);
    const inbox = await house.addInbox('agent');
    const id = await received(house, inbox, textMail(ANSWER));
    await reparseMessage(house, id);
    t.equal(preview(house, id), null, 'while it is not ready');
    isSound(t, house);
    await index(house, id, parseForReal);
    t.match(preview(house, id), { text: 'On Monday, "early".' });
    const owned = { accountId: house.account, messageId: id, kind: 'received' as const };
    await trashMessage(house, owned);
    t.equal(kept(house), 1);
    house.now.ms += 8 * DAY_MS;
    await house.sweepAll();
    t.equal(kept(house), 0, 'its time in Trash is over');
    const other = await received(house, inbox, textMail(ANSWER));
    await deleteMessage(house, { ...owned, messageId: other });
    t.equal(kept(house), 0, 'deleted for good');
    isSound(t, house);
  },
);
