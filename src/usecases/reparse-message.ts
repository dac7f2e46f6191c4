import { ok, type Result } from '../domain/errors.js';
import { releaseBlob } from '../store/blobs.js';
import { contentsTable, type ReceivedRecord, saveMessage } from '../store/messages.js';
import { addPending } from '../store/pending.js';
import type { Store } from '../store/store.js';
import { anyMessage } from './change-any-message.js';
import type { Clock } from './ports.js';
import { encodeSummary } from './received-view.js';

/**
 * An admin asks for a new try: the message is `pending` again, and what was prepared of it is let go. Its
 * conversation does not show it meanwhile, and has it back when it is ready.
 */
export async function reparseMessage(
  deps: { store: Store; clock: Clock },
  messageId: string,
): Promise<Result<{ readonly id: string; readonly processing_status: 'pending' }>> {
  return deps.store.write(writer => {
    const nowMs = deps.clock();
    const found = anyMessage(writer, messageId, nowMs);
    if (!found.ok) return found;
    const record = found.value;
    if (record.parseDueAt === null) {
      const again = unprepared(record, nowMs);
      for (const { blob } of record.attachments) releaseBlob(writer, blob.id, nowMs);
      if (record.content?.in === 'blob') releaseBlob(writer, record.content.blob.id, nowMs);
      if (record.content?.in === 'record') writer.remove(contentsTable, record.id);
      saveMessage(writer, record, again, encodeSummary(again));
      addPending(writer, nowMs, { kind: 'parse', id: record.id });
    }
    return ok({ id: record.id, processing_status: 'pending' as const });
  });
}

function unprepared(record: ReceivedRecord, nowMs: number): ReceivedRecord {
  return {
    ...record,
    status: 'pending',
    tries: 0,
    interruptions: 0,
    parseDueAt: nowMs,
    processedAt: null,
    failure: null,
    from: null,
    senders: [],
    recipients: [],
    subject: null,
    messageId: null,
    content: null,
    attachments: [],
  };
}
