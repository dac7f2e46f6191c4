import { setTimeout as rest } from 'node:timers/promises';
import { Refusal } from '../../domain/errors.js';
import type { Bodies } from '../../domain/excerpts/excerpt.js';
import { receivedExcerpt, sentExcerpt } from '../../domain/excerpts/excerpts-of-content.js';
import { startOfBodies } from '../../domain/excerpts/json-start.js';
import { type KeptExcerpt, NO_EXCERPT } from '../../domain/excerpts/kept-excerpt.js';
import { idToBytes } from '../../domain/ids.js';
import { inSlices, nextTurn } from '../../lib/slices.js';
import { range, WHOLE_TABLE } from '../../store/engine/keys.js';
import type { ExcerptProgress } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import type { Reader, Writer } from '../../store/engine/tables.js';
import { getExcerptProgress, putExcerpt, putExcerptProgress } from '../../store/mailbox/excerpts.js';
import { countChange, type Folder } from '../../store/mailbox/folders.js';
import { type MessageRecord, messagesTable, sentTable } from '../../store/mailbox/messages.js';
import { getMessageOf } from '../mailbox/message-access.js';
import type { Logger } from '../ports.js';
import { readStart, readWhole } from '../shared/contents.js';

export interface MakeExcerptsDeps {
  readonly store: Store;
  readonly log: Logger;
  /** The line that names the service, which stands behind what was written. */
  readonly attribution: string;
}

/** Messages whose excerpts are written in one commit. */
const STEP = 20;
/** Between two steps: others come first. */
const REST_MS = 10;
/** What a step may add to the store. */
const STEP_BYTES = 1024 * 1024;
/** Of longer content only the beginning is read. */
const WHOLE_BYTES = 1024 * 1024;

/**
 * Makes the excerpts of mail that came before there were any, or before they were made as they are today
 * (`EXCERPT_VERSION`): step by step, with rests between them. A process that ends meanwhile goes on at its next start.
 */
export class ExcerptMaking {
  readonly #deps: MakeExcerptsDeps;
  #isDone = false;
  #made = 0;

  constructor(deps: MakeExcerptsDeps) {
    this.#deps = deps;
  }

  /** @param shouldStop asked between steps */
  async run(shouldStop: () => boolean): Promise<void> {
    while (!this.#isDone && !shouldStop()) {
      if (!this.#deps.store.room.hasRoomFor(STEP_BYTES)) return;
      await this.#step();
      if (!this.#isDone) await rest(REST_MS);
    }
  }

  async #step(): Promise<void> {
    const { store, log } = this.#deps;
    const progress = store.read(getExcerptProgress);
    const records = store.read(reader => nextRecords(reader, progress));
    if (progress.kind !== null) {
      const made: Made[] = [];
      for (const record of records) {
        const excerpt = await this.#excerptOf(record);
        if (excerpt !== null) made.push({ record, excerpt });
        await nextTurn();
      }
      await store.write(writer => save(writer, made, following(progress, records)), 'finish');
      this.#made += made.length;
      return;
    }
    this.#isDone = true;
    if (this.#made > 0) log.info({ messages: this.#made }, 'mail from before has its previews now');
  }

  /** Null where a message has none: it is not ready. */
  async #excerptOf(record: MessageRecord): Promise<KeptExcerpt | null> {
    const { store, attribution } = this.#deps;
    const { content, subject } = record;
    if (content === null) return null;
    try {
      const isLong = content.size > WHOLE_BYTES;
      const json = await (isLong ? readStart(store, content, WHOLE_BYTES) : readWhole(store, content));
      const bodies = isLong ? startOfBodies(json) : (JSON.parse(json.toString('utf8')) as Partial<Bodies>);
      const { text = null, html = null, cut = null } = bodies;
      return await inSlices(
        record.kind === 'received'
          ? receivedExcerpt(json, { subject, text, html, cut })
          : sentExcerpt(record.subject, written(text ?? '', attribution), cut === 'text'),
      );
    } catch (error) {
      // Damage, which the details of the message tell of; or it has been deleted just now.
      if (error instanceof Refusal || error instanceof SyntaxError) return NO_EXCERPT;
      throw error;
    }
  }
}

/** What was written of a text that was sent. */
function written(text: string, attribution: string): string {
  const end = `\n${attribution}`;
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}

interface Made {
  readonly record: MessageRecord;
  readonly excerpt: KeptExcerpt;
}

function nextRecords(reader: Reader, { kind, position }: ExcerptProgress): readonly MessageRecord[] {
  if (kind === null) return [];
  const after = range(WHOLE_TABLE, position === null ? null : idToBytes(position));
  const asked = { ...after, limit: STEP };
  const found: readonly { readonly value: MessageRecord }[] =
    kind === 'received' ? reader.scan(messagesTable, asked) : reader.scan(sentTable, asked);
  return found.map(({ value }) => value);
}

function following(progress: ExcerptProgress, records: readonly MessageRecord[]): ExcerptProgress {
  if (records.length === STEP) return { ...progress, position: records.at(-1)?.id ?? null };
  return { ...progress, kind: progress.kind === 'received' ? 'sent' : null, position: null };
}

function save(writer: Writer, made: readonly Made[], progress: ExcerptProgress): void {
  const folders = new Map<string, Folder>();
  for (const { record, excerpt } of made) {
    const { id, kind, inboxId } = record;
    const now = getMessageOf(writer, kind, id);
    // It may have been deleted or parsed again meanwhile.
    if (now?.content?.id !== record.content?.id) continue;
    putExcerpt(writer, id, excerpt);
    folders.set(`${inboxId} ${kind}`, { inboxId, kind });
  }
  // Pages that are kept with previews are of before.
  for (const folder of folders.values()) countChange(writer, folder, 0);
  putExcerptProgress(writer, progress);
}
