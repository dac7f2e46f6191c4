import { createHash } from 'node:crypto';
import type { MessageId } from '../../../src/domain/ids.js';
import type { AttachedFile } from '../../../src/domain/message-parts.js';
import { joinWords, messageWordsAtOnce } from '../../../src/domain/message-words.js';
import { parseMessage } from '../../../src/mail/read/parse-message.js';
import { getMessage, saveMessage } from '../../../src/store/mailbox/messages.js';
import { type IndexDeps, indexMessage } from '../../../src/usecases/inbound/index-message.js';
import type { MessageParser, ParseOutcome, PreparedContent } from '../../../src/usecases/ports.js';
import { blobNamed, withUploads } from '../../../src/usecases/shared/uploads.js';
import { prepareContent } from '../../../src/workers/parse-thread-content.js';
import { type House, silent } from './with-house.js';

const CONTENT = {
  from: { name: 'Sender', address: 'sender@elsewhere.example' },
  sender: null,
  reply_to: [],
  to: [{ name: '', address: 'agent@example.org' }],
  cc: [],
  bcc: [],
  subject: 'Hello',
  message_id: '<1@elsewhere.example>',
  in_reply_to: null,
  references: null,
  date: null,
  text: 'Hi',
  html: null,
  attachments: [],
};

export function prepared(
  content: object = {},
  attachments: readonly AttachedFile[] = [],
  fields: Partial<PreparedContent> = {},
): PreparedContent {
  const texts = { ...CONTENT, subject: 'Hello', ...content };
  return {
    json: Buffer.from(JSON.stringify({ ...CONTENT, ...content })),
    words: joinWords(messageWordsAtOnce(texts)),
    subject: 'Hello',
    messageId: '<1@elsewhere.example>',
    from: { name: 'Sender', address: 'sender@elsewhere.example' },
    senders: ['sender@elsewhere.example'],
    recipients: ['agent@example.org'],
    attachments,
    ids: { messageId: '1@elsewhere.example', references: [], inReplyTo: [] },
    report: null,
    ...fields,
  };
}

/** What the parser makes of a message. */
export type Parse = (source: AsyncIterable<Uint8Array>) => Promise<ParseOutcome>;

export const parsed =
  (content?: object, fields?: Partial<PreparedContent>): Parse =>
  async () => ({ status: 'parsed', prepared: prepared(content, [], fields) });

export const gaveUp =
  (reason: 'timeout' | 'memory' | 'error' | 'worker_died'): Parse =>
  async () => ({ status: 'gave_up', reason, detail: 'test' });

/** @param deps among them `startedAt`, when the process began: without it every attempt is marked */
export function index(house: House, id: MessageId, parse: Parse, deps: Partial<IndexDeps> = {}) {
  const parser: MessageParser = { parse: ({ bytes }) => parse(bytes) };
  return indexMessage({ ...house, parser, log: silent, maxTries: 3, startedAt: null, ...deps }, id);
}

/** As a parser thread does it. */
export const parseForReal: Parse = async source => ({
  status: 'parsed',
  prepared: prepareContent(await parseMessage(source)),
});

/** An attachment that stands unencoded in the raw message, from `start` on. */
export function attached(id: string, filename: string | null, bytes: Uint8Array, start = 0): AttachedFile {
  const sha256 = createHash('sha256').update(bytes).digest('base64url');
  return { id, filename, start, length: bytes.length, encoding: 'identity', size: bytes.length, sha256 };
}

/** Gives a ready message an attachment in the form that it had up to schema 5: a decoded copy in a blob of its own. */
export async function attachCopy(
  house: House,
  id: MessageId,
  filename: string,
  bytes: Buffer,
): Promise<void> {
  await withUploads(house.uploads, async uploads => {
    await uploads.add(filename, bytes);
    await house.store.write(writer => {
      const before = getMessage(writer, id)!;
      const blob = blobNamed(uploads.finish(writer), filename);
      const attachments = [
        ...before.attachments,
        { id: `a${before.attachments.length + 1}`, filename, blob },
      ];
      saveMessage(writer, before, { ...before, attachments });
    });
  });
}
