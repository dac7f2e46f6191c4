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
        content = await signer.sign(attempt.content, attempt.envelope.from);
      } catch (error) {
        log.error({ id: attempt.id, err: error }, 'a message could not be signed and was not sent');
        return rejected('E_TEMPORARY_FAILURE', 'the message could not be signed; nothing was sent');
      }
      return transport.submit({ ...attempt, content });
    },
  };
}
