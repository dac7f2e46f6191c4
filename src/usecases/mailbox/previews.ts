import { NO_EXCERPT } from '../../domain/excerpts/kept-excerpt.js';
import type { MessageId } from '../../domain/ids.js';
import type { Store } from '../../store/engine/store.js';
import { previewJson } from '../../store/mailbox/excerpts.js';

/**
 * The previews of messages that the caller has been shown, as JSON (`Preview`, or `null` where there is none), in their
 * order.
 */
export function previewsOf(
  { store }: { readonly store: Store },
  ids: readonly (MessageId | null)[],
): readonly string[] {
  return store.read(reader => ids.map(id => (id === null ? NO_EXCERPT.preview : previewJson(reader, id))));
}
