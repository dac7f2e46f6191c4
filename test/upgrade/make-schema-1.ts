import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';

/**
 * A store as schema 1 wrote it, byte by byte and without the program's own code: what was once on disk
 * must be read for ever, whatever the code has become.
 */

export const CREDENTIAL = `pst_${'A'.repeat(43)}`;
export const ACCOUNT = '019b0000-0000-7000-8000-00000000000a';
export const KEY = '019b0000-0000-7000-8000-00000000000b';
export const INBOX = '019b0000-0000-7000-8000-00000000000c';
export const READY = '019b0000-0000-7000-8000-00000000000d';
export const PENDING = '019b0000-0000-7000-8000-00000000000e';
export const RAW = '019b0000-0000-7000-8000-00000000000f';
export const FILE = '019b0000-0000-7000-8000-000000000010';
export const RAW_BYTES = 'Subject: Hello\r\n\r\nHi\r\n';
export const FILE_BYTES = 'attached';
export const RECEIVED_AT = Date.UTC(2026, 0, 1);

const id = (text: string) => Buffer.from(text.replaceAll('-', ''), 'hex');
const json = (value: unknown) => Buffer.from(`\u0001${JSON.stringify(value)}`);
const u32 = (value: number) => Buffer.from(value.toString(16).padStart(8, '0'), 'hex');
const u48 = (value: number) => Buffer.from(value.toString(16).padStart(12, '0'), 'hex');
const key = (...parts: (Buffer | number | string)[]) =>
  Buffer.concat(
    parts.map(part => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part as Buffer))),
  );

const message = (messageId: string, seq: number, more: object) => ({
  id: messageId,
  inboxId: INBOX,
  seq,
  envelopeFrom: 'sender@elsewhere.example',
  envelopeTo: 'Agent@example.org',
  receivedAt: RECEIVED_AT,
  clientAddress: '192.0.2.1',
  helo: 'mx.elsewhere.example',
  raw: { id: RAW, size: RAW_BYTES.length },
  status: 'pending',
  tries: 0,
  interruptions: 0,
  parseDueAt: RECEIVED_AT,
  processedAt: null,
  failure: null,
  threadId: null,
  subject: null,
  messageId: null,
  content: null,
  attachments: [],
  ...more,
});

const summary = (messageId: string, status: string) =>
  Buffer.from(
    JSON.stringify({
      id: messageId,
      inbox_id: INBOX,
      received_at: new Date(RECEIVED_AT).toISOString(),
      processing_status: status,
      subject: null,
      labels: [],
    }),
  );

export async function makeSchema1(path: string): Promise<void> {
  mkdirSync(join(path, 'store'), { recursive: true });
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const root = open({
    path: join(path, 'store'),
    mapSize: 2 ** 30,
    maxDbs: 64,
    overlappingSync: false,
    ...binary,
  });
  const hash = createHash('sha256').update(CREDENTIAL).digest();
  const entries: [string, Buffer, Buffer][] = [
    ['meta', key('schema'), json(1)],
    [
      'meta',
      key('identity'),
      json({ createdAt: RECEIVED_AT, cursorSecret: Buffer.alloc(32, 7).toString('base64') }),
    ],
    [
      'accounts',
      id(ACCOUNT),
      json({
        id: ACCOUNT,
        email: 'Owner@elsewhere.example',
        createdAt: RECEIVED_AT,
        permissions: { send: true, delete: true, restore: true },
        inboxLimit: null,
        sendLimit: null,
        isOperator: false,
      }),
    ],
    ['account_emails', key('owner@elsewhere.example'), json(ACCOUNT)],
    [
      'api_keys',
      hash,
      json({ id: KEY, accountId: ACCOUNT, name: null, createdAt: RECEIVED_AT, revokedAt: null }),
    ],
    ['api_key_hashes', id(KEY), hash],
    ['account_keys', key(id(ACCOUNT), id(KEY)), Buffer.alloc(0)],
    [
      'inboxes',
      id(INBOX),
      json({
        id: INBOX,
        accountId: ACCOUNT,
        localPart: 'agent',
        domain: 'example.org',
        name: 'Agent',
        senderName: null,
        createdAt: RECEIVED_AT,
      }),
    ],
    ['addresses', key('agent@example.org'), json({ status: 'live', inboxId: INBOX })],
    ['addresses', key('gone@example.org'), json({ status: 'retired', retiredAt: RECEIVED_AT })],
    ['account_inboxes', key(id(ACCOUNT), id(INBOX)), Buffer.alloc(0)],
    [
      'idempotency',
      key(id(ACCOUNT), 1, 'my-key'),
      json({ intent: 'digest', resultId: INBOX, expiresAt: RECEIVED_AT + 86_400_000 }),
    ],
    [
      'pending',
      key(4, u48(RECEIVED_AT + 86_400_000), id(INBOX)),
      json({ kind: 'expire-key', id: INBOX, key: { accountId: ACCOUNT, namespace: 'inbox', key: 'my-key' } }),
    ],
    [
      'messages',
      id(READY),
      json(
        message(READY, 2, {
          status: 'ready',
          parseDueAt: null,
          processedAt: RECEIVED_AT + 50,
          subject: 'Hello',
          content: { in: 'record' },
          attachments: [{ id: 'a1', blob: { id: FILE, size: FILE_BYTES.length }, filename: 'file.txt' }],
        }),
      ),
    ],
    ['messages', id(PENDING), json(message(PENDING, 4, {}))],
    ['summaries', key(id(INBOX), 1, u48(2)), summary(READY, 'ready')],
    ['summaries', key(id(INBOX), 1, u48(4)), summary(PENDING, 'pending')],
    [
      'contents',
      id(READY),
      Buffer.from(
        JSON.stringify({
          from: { name: 'Ann', address: 'Ann@Elsewhere.example' },
          to: [{ name: 'Team', group: [{ name: '', address: 'Agent@example.org' }] }],
          cc: [],
          bcc: [],
          subject: 'Hello',
          text: 'Hi',
        }),
      ),
    ],
    // Of four messages the first and the third were deleted.
    ['mailbox_counters', key(id(INBOX), 1), key(u48(5), u48(2))],
    ['pending', key(1, u48(RECEIVED_AT), id(PENDING)), json({ kind: 'parse', id: PENDING })],
    ['blob_chunks', key(id(RAW), u32(0)), Buffer.from(RAW_BYTES)],
    ['blob_chunks', key(id(FILE), u32(0)), Buffer.from(FILE_BYTES)],
    ['blob_owners', id(RAW), json(2)],
  ];
  for (const [name, entryKey, value] of entries) await root.openDB({ name, ...binary }).put(entryKey, value);
  await root.close();
}
