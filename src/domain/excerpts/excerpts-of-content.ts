import { type Bodies, excerptOf } from './excerpt.js';
import { type KeptExcerpt, keptExcerpt } from './kept-excerpt.js';

/**
 * A quote within a value is escaped, so that these bytes stand only before the field itself, with a text behind them.
 */
const TEXT_START = ',"text":"';

/**
 * The excerpt of a received message, its places in the JSON of its content.
 * @param json of `ReceivedContent`, the first bytes of it at least, as far as its text begins
 */
export function* receivedExcerpt(json: Buffer, content: Bodies): Generator<void, KeptExcerpt> {
  const excerpt = yield* excerptOf(content);
  const found = json.indexOf(TEXT_START);
  return yield* keptExcerpt(excerpt, content.text ?? '', found < 0 ? 0 : found + TEXT_START.length);
}

/** Where the JSON of the bodies of a sent message has the first character of its text. */
const SENT_TEXT_AT = '{"text":"'.length;

/**
 * The excerpt of a message that is sent, its places in the JSON of its bodies (`SentBodies`).
 * @param text as it was written, without the line that names the service, which stands behind it
 * @param isCut no more than the beginning of it is given
 */
export function* sentExcerpt(subject: string, text: string, isCut = false): Generator<void, KeptExcerpt> {
  const excerpt = yield* excerptOf({ subject, text, html: null, cut: isCut ? 'text' : null });
  return yield* keptExcerpt(excerpt, text, SENT_TEXT_AT);
}
