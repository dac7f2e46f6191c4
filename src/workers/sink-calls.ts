import type { AttachmentSink } from '../mail/read/limits.js';
import type { SinkCall } from './parse-protocol.js';

/** How long a stop waits for unfinished calls of source and sink. */
export const STOP_PATIENCE_MS = 1_000;

/**
 * Calls a sink in order, as long as `isCancelled` says no.
 * @returns a promise only when the sink asks to wait; throws or rejects when the sink fails
 */
export function applyCalls(
  sink: AttachmentSink,
  calls: readonly SinkCall[],
  isCancelled: () => boolean,
): void | Promise<void> {
  for (const [index, call] of calls.entries()) {
    if (isCancelled()) return;
    const applied = applyCall(sink, call);
    if (applied !== undefined) {
      return applied.then(() => applyCalls(sink, calls.slice(index + 1), isCancelled));
    }
  }
}

function applyCall(sink: AttachmentSink, call: SinkCall): void | Promise<void> {
  switch (call.call) {
    case 'begin':
      return sink.begin(call.id);
    case 'write':
      return sink.write(call.bytes);
    case 'end':
      return sink.end(call.size);
  }
}
