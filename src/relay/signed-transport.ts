import { FromReader } from '../mail/read/message-header.js';
import type { Logger, MailSigner } from '../usecases/ports.js';
import { rejected } from './smarthost/outcome.js';
import type { Transport } from './transport.js';

/** The transport, with every message signed before it is handed over. What cannot be signed is not sent. */
export function signedTransport(transport: Transport, signer: MailSigner, log: Logger): Transport {
  return {
    start: () => transport.start(),
    close: graceMs => transport.close(graceMs),
    async submit(attempt) {
      let content: Uint8Array;
      try {
        content = await signer.sign(attempt.content, authorOf(attempt.content));
      } catch (error) {
        log.error({ id: attempt.id, err: error }, 'a message could not be signed and was not sent');
        return rejected('E_TEMPORARY_FAILURE', 'the message could not be signed; nothing was sent');
      }
      return transport.submit({ ...attempt, content });
    },
  };
}

/** The address in From: the reverse-path may be another one, or empty, as that of a notice is. */
function authorOf(content: Uint8Array): string {
  const reader = new FromReader();
  for (let at = 0; at < content.length && !reader.isDone; at += PIECE_BYTES) {
    reader.push(content.subarray(at, at + PIECE_BYTES));
  }
  return reader.end()[0] ?? '';
}

const PIECE_BYTES = 4096;
