import type { MessageId } from '../../../src/domain/ids.js';
import type { AttachmentSink } from '../../../src/mail/read/limits.js';
import { indexMessage } from '../../../src/usecases/inbound/index-message.js';
import type { MessageParser, ParseOutcome, PreparedContent } from '../../../src/usecases/ports.js';
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
  filenames: (string | null)[] = [],
  fields: Partial<PreparedContent> = {},
): PreparedContent {
  return {
    json: Buffer.from(JSON.stringify({ ...CONTENT, ...content })),
    subject: 'Hello',
    messageId: '<1@elsewhere.example>',
    from: { name: 'Sender', address: 'sender@elsewhere.example' },
    senders: ['sender@elsewhere.example'],
    recipients: ['agent@example.org'],
    filenames,
    ids: { messageId: '1@elsewhere.example', references: [], inReplyTo: [] },
    ...fields,
  };
}

/** What the parser makes of a message: an outcome, after whatever it does with the sink. */
export type Parse = (source: AsyncIterable<Uint8Array>, sink: AttachmentSink) => Promise<ParseOutcome>;

export const parsed =
  (content?: object, fields?: Partial<PreparedContent>): Parse =>
  async () => ({ status: 'parsed', prepared: prepared(content, [], fields) });

export const gaveUp =
  (reason: 'timeout' | 'memory' | 'error' | 'worker_died'): Parse =>
  async () => ({ status: 'gave_up', reason, detail: 'test' });

export function index(house: House, id: MessageId, parse: Parse) {
  const parser: MessageParser = { parse: ({ bytes }, sink) => parse(bytes, sink) };
  return indexMessage({ ...house, parser, log: silent, maxTries: 3 }, id);
}

/** Attachments for the sink, in pieces. */
export async function attach(sink: AttachmentSink, id: string, bytes: Buffer): Promise<void> {
  await sink.begin(id);
  for (let at = 0; at < bytes.length; at += 50_000)
    await sink.write(Buffer.from(bytes.subarray(at, at + 50_000)));
  await sink.end(bytes.length);
}
