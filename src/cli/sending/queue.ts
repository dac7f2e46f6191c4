import type { Command } from 'commander';
import { BlobUploads } from '../../store/records/blob-upload.js';
import { maxQueuedMs } from '../../usecases/dkim/limits.js';
import { mailSigner } from '../../usecases/dkim/sign-mail.js';
import {
  type ChangedDeliveries,
  cancelDeliveries,
  listQueue,
  type QueuedDelivery,
  retryDeliveries,
} from '../../usecases/sending/delivery-admin.js';
import {
  type QueueStatus,
  queueStatus,
  type Retried,
  retrySends,
} from '../../usecases/sending/queue-admin.js';
import { retryUnknown } from '../../usecases/sending/retry-unknown.js';
import { wholeNumber } from '../arguments.js';
import type { Box } from '../context.js';
import { answer, answerWith, failed } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

/** `postern queue`: what waits to be parsed or sent. */
export function addQueueCommands(program: Command, cli: Cli): void {
  const queue = program.command('queue').description('queues: what waits to be parsed or sent');

  queue
    .command('status')
    .description('show what waits, and sends that never started and are held')
    .action(() =>
      cli.read(box => {
        const status = queueStatus(box);
        return answer(status, renderStatus(status));
      }),
    );

  queue
    .command('list')
    .description('list the deliveries that have not ended, those that are due soonest first')
    .option('--limit <n>', 'how many to show, 1 to 1000', wholeNumber(1, 1000), 50)
    .action(({ limit }: { limit: number }) =>
      cli.read(box => {
        const deliveries = listQueue(box, limit);
        return answer({ deliveries }, renderQueue(deliveries));
      }),
    );

  queue
    .command('cancel')
    .description('try the recipients of a message no more that wait; their sender is not told')
    .argument('<message_id>', 'id of the sent message')
    .action((messageId: string) =>
      cli.change(async box => answerWith(await cancelDeliveries(box, messageId), renderCancelled)),
    );

  queue
    .command('retry')
    .description(
      'let a send start that never did (the service was down for a day), or try at once what waits to be delivered; what was started once is never sent again',
    )
    .argument('[message_id]', 'id of the sent message')
    .option('--all', 'all that are held')
    .option('--even-if-delivered', 'send it again to recipients that may have it already')
    .action((messageId: string | undefined, { all, evenIfDelivered }: RetryOptions) =>
      cli.change(async box => {
        if (evenIfDelivered === true && messageId !== undefined) {
          return answerWith(await retryUnknown(retryDeps(box), messageId), renderTriedAgain);
        }
        if ((messageId === undefined) !== (all === true)) {
          throw failed('usage', 'Give the id of one sent message, or --all.');
        }
        const delivered = messageId === undefined ? null : await retryDeliveries(box, messageId);
        if (delivered !== null) return answerWith(delivered, renderTriedAgain);
        const retried = await retrySends(box, messageId ?? null);
        return answerWith(retried, messageId === undefined ? renderAllRetried : renderRetried);
      }),
    );
}

function renderRetried({ retried }: Retried): string {
  return retried.length === 0
    ? 'It is not held: the daemon is about to send it.\n'
    : 'It is held no longer: the daemon sends it within a minute.\n';
}

function renderAllRetried({ retried }: Retried): string {
  return retried.length === 0
    ? 'Nothing was held.\n'
    : `${retried.length} held no longer: the daemon sends them within a minute.\n`;
}

interface RetryOptions {
  readonly all?: boolean;
  readonly evenIfDelivered?: boolean;
}

function retryDeps({ store, clock, config }: Box): Parameters<typeof retryUnknown>[0] {
  const { transport } = config.relay;
  const keys = { store, clock, maxQueuedMs: maxQueuedMs(config), domains: config.mail.domains };
  const signer = transport === 'direct' ? mailSigner(keys, { isRedated: false }) : null;
  return { store, clock, uploads: new BlobUploads(store), signer };
}

function renderQueue(deliveries: readonly QueuedDelivery[]): string {
  const rows = deliveries.flatMap(({ message_id, recipients, due_at }) =>
    recipients.map(({ recipient, state, attempts, code, reply }) => ({
      message_id,
      recipient,
      state,
      attempts,
      due_at,
      last: [code, reply].filter(part => part !== null).join(' ') || null,
    })),
  );
  const columns = ['message_id', 'recipient', 'state', 'attempts', 'due_at', 'last'];
  return renderTable(rows, columns, 'Nothing waits to be delivered.');
}

function renderCancelled({ recipients }: ChangedDeliveries): string {
  return recipients.length === 0
    ? 'Nothing of it waits: there is nothing to cancel.\n'
    : `Not tried any more: ${recipients.join(', ')}\n`;
}

function renderTriedAgain({ recipients }: ChangedDeliveries): string {
  return `Tried again within a minute: ${recipients.join(', ')}\n`;
}

function renderStatus({ parse, relay, held, is_partial }: QueueStatus): string {
  const counts = {
    waiting_to_be_parsed: parse.waiting,
    oldest_of_them_s: parse.oldest_age_s,
    waiting_to_be_sent: relay.waiting,
    being_sent: relay.started,
    oldest_unsent_s: relay.oldest_age_s,
  };
  const more = is_partial ? 'There is more than was counted.\n' : '';
  const rows = held.map(({ in_trash, ...send }) => ({ ...send, in_trash: in_trash ? 'yes' : null }));
  const columns = ['id', 'inbox_id', 'created_at', 'in_trash', 'subject'];
  const table = renderTable(rows, columns, 'No send is held.');
  return `${renderFields(counts)}${more}\nHeld: not sent for a day or put into Trash ("postern queue retry" lets go):\n${table}`;
}
