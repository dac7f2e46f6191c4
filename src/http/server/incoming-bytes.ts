import type { IncomingMessage } from 'node:http';
import type { BytesSpec } from '../../contract/operation.js';
import { refuse } from '../../domain/errors.js';
import { type Hand, SMALL_BYTES } from '../../usecases/shared/in-hand.js';
import type { ByteSink, IncomingBytes } from '../../usecases/uploads/file-uploads.js';
import { atLeastRate, declaredBytes, stillThere, tooLarge } from './body-bounds.js';

/**
 * The body of an operation that takes bytes, to be read by its handler as they come. A large one waits for its turn
 * before it is read, as JSON does (`read-body.ts`), though little of it is in memory at a time: so many are on their way
 * into the store at once, of one account and of all.
 * @param onRead called before the first byte is read (to send `100 Continue`)
 * @throws unsupported_media_type for a form, which has more in it than the file; body_too_large
 */
export function incomingBytes(
  request: IncomingMessage,
  { limitBytes }: BytesSpec,
  hand: Hand,
  onRead: () => void,
): IncomingBytes {
  const isForm = /^\s*multipart\//i.test(request.headers['content-type'] ?? '');
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (isForm || encoding.toLowerCase() !== 'identity') {
    throw refuse(
      'unsupported_media_type',
      'Send the bytes of the file as the body, without a form around them and without Content-Encoding; application/octet-stream is a good type.',
    );
  }
  const declared = declaredBytes(request, limitBytes);
  return {
    declaredBytes: declared,
    read: async sink => {
      const isLarge = (declared ?? limitBytes) >= SMALL_BYTES;
      if (isLarge) {
        await hand.takeBody(declared ?? limitBytes);
        stillThere(request);
      }
      onRead();
      const reading = pour(request, limitBytes, sink);
      await (isLarge ? atLeastRate(request, reading) : reading);
    },
  };
}

/** Gives the body to `sink`, at its pace. @throws body_too_large; the rest is then left unread */
function pour(request: IncomingMessage, limitBytes: number, sink: ByteSink): Promise<void> {
  // Not `for await`: leaving that loop early would destroy the socket before the answer is written.
  return new Promise((resolve, reject) => {
    let size = 0;
    let isOver = false;
    const end = (error: unknown = null): void => {
      isOver = true;
      request.off('data', onData).off('end', onEnd).off('error', end).off('close', onClose);
      if (error === null) resolve();
      else reject(error);
    };
    const onData = (bytes: Buffer): void => {
      size += bytes.length;
      if (size > limitBytes) {
        request.pause();
        end(tooLarge(limitBytes));
      } else if (!sink.write(bytes)) {
        request.pause();
        sink.drained().then(() => {
          if (!isOver) request.resume();
        }, end);
      }
    };
    const onEnd = (): void => end();
    const onClose = (): void => end(new Error('the client went away while its request was read'));
    request.on('data', onData).on('end', onEnd).on('error', end).on('close', onClose);
  });
}
