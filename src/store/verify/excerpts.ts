import { placesOf } from '../../domain/excerpts/kept-excerpt.js';
import { idFromBytes, type MessageId } from '../../domain/ids.js';
import { type Reader, walkTable } from '../engine/tables.js';
import { excerptsTable, hasAllExcerpts } from '../mailbox/excerpts.js';
import type { MessageRecord } from '../mailbox/messages.js';
import type { Ledger } from './ledger.js';

const excerptEntry = (id: string): string => `excerpt of message ${id}`;

/** Every message that is ready has its excerpt, once those of mail from before have been made; no other has one. */
export class ExcerptCheck {
  readonly #reader: Reader;
  readonly #ledger: Ledger;
  readonly #hasAll: boolean;

  constructor(reader: Reader, ledger: Ledger) {
    this.#reader = reader;
    this.#ledger = ledger;
    this.#hasAll = hasAllExcerpts(reader);
  }

  expect({ id, content }: MessageRecord): void {
    if (content === null) return;
    const excerpt = this.#reader.get(excerptsTable, id);
    if (this.#hasAll || excerpt !== undefined) this.#ledger.expect(excerptEntry(id));
    const places = excerpt === undefined ? null : placesOf(excerpt.newWords);
    if (places?.some(([start, end]) => start > end || end > content.size) === true) {
      this.#ledger.expect(`new words of message ${id} within its content`);
    }
  }
}

/** Finds the excerpts that are kept. */
export function findExcerpts(reader: Reader, ledger: Ledger): void {
  for (const { key } of walkTable(reader, excerptsTable))
    ledger.find(excerptEntry(idFromBytes<MessageId>(key)));
}
