import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';

/**
 * A store as schema 2 wrote it, byte by byte and without the program's own code: received mail of before there
 * were conversations.
 */

export const ACCOUNT = '019b0000-0000-7000-8000-00000000000a';
export const INBOX = '019b0000-0000-7000-8000-00000000000c';
export const RECEIVED_AT = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

const idOf = (n: number) => `019b0000-0000-7000-8000-0000000001${String(n).padStart(2, '0')}`;

/** In the order of arrival. */
export const REPLY = idOf(1);
export const ALONE = idOf(2);
export const PENDING = idOf(3);
export const TRASHED = idOf(4);
/** Its content lies in a blob. */
export const LONG = idOf(5);
export const PARENT = idOf(6);
export const LONG_TEXT = '"references":"<nothing@x>" '.repeat(9_000);

const id = (text: string) => Buffer.from(text.replaceAll('-', ''), 'hex');
const json = (version: number, value: unknown) =>
  Buffer.from(String.fromCharCode(version) + JSON.stringify(value));
const u32 = (value: number) => Buffer.from(value.toString(16).padStart(8, '0'), 'hex');
const u48 = (value: number) => Buffer.from(value.toString(16).padStart(12, '0'), 'hex');
const key = (...parts: (Buffer | number)[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'number' ? Buffer.of(part) : part)));

const RAW = 'Subject: Hello\r\n\r\nHi\r\n';
const CHUNK_BYTES = 65_520;

interface Letter {
  readonly messageId: string | null;
  readonly inReplyTo?: string;
  readonly references?: string;
  readonly text?: string;
}

const content = ({ messageId, inReplyTo = '', references = '', text = 'Hi' }: Letter) =>
  Buffer.from(
    JSON.stringify({
      from: null,
      sender: null,
      reply_to: [],
      to: [],
      cc: [],
      bcc: [],
      subject: 'About "references":"<no@x>"',
      message_id: messageId,
      in_reply_to: inReplyTo || null,
      references: references || null,
      date: null,
      text,
      html: null,
      attachments: [],
    }),
  );

const LETTERS: readonly (readonly [string, Letter | null])[] = [
  [REPLY, { messageId: '<reply@x>', references: '<root@x>\r\n <parent@x>' }],
  [ALONE, { messageId: null }],
  [PENDING, null],
  [TRASHED, { messageId: '<trashed@x>', inReplyTo: 'Your message of "Friday" <reply@x>' }],
  [LONG, { messageId: '<long@x>', references: '<root@x>', text: LONG_TEXT }],
  [PARENT, { messageId: '<parent@x>' }],
];

function message(messageId: string, seq: number, letter: Letter | null, rawId: string): object {
  const isLong = messageId === LONG;
  const size = letter === null ? 0 : content(letter).length;
  return {
    id: messageId,
    inboxId: INBOX,
    kind: 'received',
    seq,
    labels: [],
    senders: [],
    recipients: [],
    trash:
      messageId === TRASHED
        ? { number: 1, deletedAt: RECEIVED_AT + 100, restorableUntil: RECEIVED_AT + 7 * DAY_MS }
        : null,
    envelopeFrom: 'sender@elsewhere.example',
    envelopeTo: 'agent@example.org',
    receivedAt: RECEIVED_AT + seq,
    clientAddress: '192.0.2.1',
    helo: 'mx.elsewhere.example',
    raw: { id: rawId, size: RAW.length },
    status: letter === null ? 'pending' : 'ready',
    tries: 0,
    interruptions: 0,
    parseDueAt: letter === null ? RECEIVED_AT : null,
    processedAt: letter === null ? null : RECEIVED_AT + seq,
    failure: null,
    threadId: null,
    from: null,
    subject: letter === null ? null : 'Hello',
    messageId: letter?.messageId ?? null,
    content:
      letter === null ? null : isLong ? { in: 'blob', blob: { id: idOf(80), size } } : { in: 'record' },
    attachments: [],
  };
}

function summary(messageId: string, seq: number, letter: Letter | null): Buffer {
  const isReady = letter !== null;
  return Buffer.from(
    JSON.stringify({
      id: messageId,
      inbox_id: INBOX,
      thread_id: null,
      envelope_from: 'sender@elsewhere.example',
      envelope_to: 'agent@example.org',
      subject: isReady ? 'Hello' : null,
      received_at: new Date(RECEIVED_AT + seq).toISOString(),
      processing_status: isReady ? 'ready' : 'pending',
      ...(isReady ? { from: null } : {}),
      labels: [],
    }),
  );
}

type Entry = [table: string, key: Buffer, value: Buffer];

function letterEntries(messageId: string, index: number, letter: Letter | null): Entry[] {
  const seq = index + 1;
  const rawId = idOf(50 + index);
  const entries: Entry[] = [
    ['messages', id(messageId), json(2, message(messageId, seq, letter, rawId))],
    ['blob_chunks', key(id(rawId), u32(0)), Buffer.from(RAW)],
  ];
  if (messageId !== TRASHED) {
    entries.push(['summaries', key(id(INBOX), 1, u48(seq)), summary(messageId, seq, letter)]);
  }
  if (letter === null) return entries;
  const bytes = content(letter);
  if (messageId !== LONG) return [...entries, ['contents', id(messageId), bytes]];
  for (let n = 0; n * CHUNK_BYTES < bytes.length; n++) {
    const chunk = bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES);
    entries.push(['blob_chunks', key(id(idOf(80)), u32(n)), chunk]);
  }
  return entries;
}

export async function makeSchema2(path: string): Promise<void> {
  mkdirSync(join(path, 'store'), { recursive: true });
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const root = open({
    path: join(path, 'store'),
    mapSize: 2 ** 30,
    maxDbs: 64,
    overlappingSync: false,
    ...binary,
  });
  const permissions = { send: true, delete: true, restore: true };
  const account = { id: ACCOUNT, email: 'owner@elsewhere.example', createdAt: RECEIVED_AT, permissions };
  const inbox = {
    id: INBOX,
    accountId: ACCOUNT,
    localPart: 'agent',
    domain: 'example.org',
    createdAt: RECEIVED_AT,
  };
  const secret = Buffer.alloc(32, 7).toString('base64');
  const trashed = { kind: 'received', id: TRASHED, restorableUntil: RECEIVED_AT + 7 * DAY_MS };
  const entries: Entry[] = [
    ['meta', Buffer.from('schema'), json(1, 2)],
    [
      'meta',
      Buffer.from('identity'),
      json(1, { createdAt: RECEIVED_AT, cursorSecret: secret, id: 'abcdef0123456789' }),
    ],
    ['accounts', id(ACCOUNT), json(1, { ...account, inboxLimit: null, sendLimit: null, isOperator: false })],
    ['account_emails', Buffer.from('owner@elsewhere.example'), json(1, ACCOUNT)],
    ['inboxes', id(INBOX), json(1, { ...inbox, name: null, senderName: null })],
    ['addresses', Buffer.from('agent@example.org'), json(1, { status: 'live', inboxId: INBOX })],
    ['account_inboxes', key(id(ACCOUNT), id(INBOX)), Buffer.alloc(0)],
    ['mailbox_counters', key(id(INBOX), 1), key(u48(7), u48(5), u48(RECEIVED_AT + 6), u48(9))],
    // The one number that no list shows, as a block of one offset.
    ['postings', key(id(INBOX), 1, 1, 0, u32(0)), Buffer.of(4, 0)],
    ['trash', key(id(INBOX), u48(1)), json(1, trashed)],
    ['trash_numbers', id(INBOX), json(1, 1)],
    ['pending', key(1, u48(RECEIVED_AT), id(PENDING)), json(1, { kind: 'parse', id: PENDING })],
    [
      'pending',
      key(5, u48(RECEIVED_AT + 7 * DAY_MS), id(TRASHED)),
      json(1, { kind: 'purge-trash', id: TRASHED, message: 'received' }),
    ],
    ...LETTERS.flatMap(([messageId, letter], index) => letterEntries(messageId, index, letter)),
  ];
  for (const [name, entryKey, value] of entries) await root.openDB({ name, ...binary }).put(entryKey, value);
  await root.close();
}
