import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { InboxId, MessageId } from '../../../src/domain/ids.js';
import { hashCredential } from '../../../src/domain/secrets.js';
import { scanSummaries } from '../../../src/store/mailbox/folders.js';
import { getMessage } from '../../../src/store/mailbox/messages.js';
import { openStore } from '../../../src/store/open-store.js';
import { findKeyByHash } from '../../../src/store/records/accounts.js';

/** A naive implementation of the list: decodes every record and encodes the response for each request. */

const { path, inboxId } = JSON.parse(process.argv[2] ?? '') as { path: string; inboxId: InboxId };
const store = openStore({ path, mapSizeBytes: 64 * 2 ** 30, diskFloorBytes: 0 });

const server = createServer((request, response) => {
  const credential = (request.headers.authorization ?? '').slice('Bearer '.length);
  const body = store.read(reader => {
    if (findKeyByHash(reader, hashCredential(credential)) === undefined) {
      return JSON.stringify({ error: 'key' });
    }
    const url = new URL(request.url ?? '/', 'http://localhost');
    const limit = Number(url.searchParams.get('limit'));
    const newest = { from: 0, to: 2 ** 48 - 1, isDescending: true, limit: limit + 1 };
    const entries = scanSummaries(reader, { inboxId, kind: 'received' }, newest);
    const records = entries.slice(0, limit).map(({ summary }) => {
      const { id } = JSON.parse(summary.toString('utf8')) as { id: MessageId };
      return getMessage(reader, id);
    });
    const messages = records.map(record => ({
      id: record?.id,
      inbox_id: record?.inboxId,
      thread_id: record?.threadId,
      envelope_from: record?.envelopeFrom,
      envelope_to: record?.envelopeTo,
      subject: record?.subject,
      received_at: new Date(record?.receivedAt ?? 0).toISOString(),
      processing_status: record?.status,
      from: record?.from,
      labels: record?.labels,
    }));
    return JSON.stringify({ messages, next_cursor: String(entries.at(-1)?.seq) });
  });
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
