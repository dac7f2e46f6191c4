import type { Command } from 'commander';
import { BlobUploads } from '../../store/records/blob-upload.js';
import { maxQueuedMs } from '../../usecases/dkim/limits.js';
import { mailSigner } from '../../usecases/dkim/sign-mail.js';
import {
  type ChangedDeliveries,
  cancelDeliveries,
  listQueue,
  type QueuePage,
  retryDeliveries,
} from '../../usecases/sending/delivery-admin.js';
import { describeDeliveries, type MessageDeliveries } from '../../usecases/sending/describe-deliveries.js';
import {
  type QueueStatus,
  queueStatus,
  type Retried,
  retrySends,
} from '../../usecases/sending/queue-admin.js';
import { retryUnknown } from '../../usecases/sending/retry-unknown.js';
import { resumeSending } from '../../usecases/upkeep/mark-restored.js';
import { wholeNumber } from '../arguments.js';
import type { Box } from '../context.js';
import { type Answer, answer, answerWith, type CommandRefusal, failed, orMissing } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import { answerResumed } from '../resumed.js';
import type { Cli } from '../run-command.js';

const MAX_SHOWN = 1000;

const RETRY_HELP = `
A send is held when it never started, because the service was down for a day, because it is in Trash, or because it
waited when the backup was made that the store was restored from: then it may have gone out since. A message that
was handed to a relay is never sent again. Of a delivery that is unknown the connection ended before the server said
whether it takes the message: ask the recipient first.
`;

/** `postern queue`: what waits to be parsed, sent or delivered. */
export function addQueueCommands(program: Command, cli: Cli): void {
  const queue = program.command('queue').description('queues: what waits to be parsed, sent or delivered');

  queue
    .command('status')
    .description('count what waits, and show sends that never started and are held')
    .action(() =>
      cli.read(box => {
        const status = queueStatus(box);
        return answer(status, renderStatus(status));
      }),
    );

  queue
    .command('list')
    .description('list the deliveries that have not ended, those that are due soonest first')
    .option('--limit <n>', `how many to show, 1 to ${MAX_SHOWN}`, wholeNumber(1, MAX_SHOWN), 50)
    .action(({ limit }: { limit: number }) =>
      cli.read(box => {
        return answerWith(listQueue(box, limit), renderQueue);
      }),
    );

  queue
    .command('show')
    .description('show what became of a message for each recipient, and what can be done')
    .argument('<message_id>', 'id of the sent message')
    .action((messageId: string) =>
      cli.read(async box => answerWith(await describe(box, messageId), renderDescribed)),
    );

  queue
    .command('cancel')
    .description('give up the recipients of a message that wait; nobody is told')
    .argument('<message_id>', 'id of the sent message')
    .action((messageId: string) =>
      cli.change(async box => answerWith(await cancel(box, messageId), renderCancelled)),
    );

  queue
    .command('retry')
    .description('try at once what waits to be delivered, or let a send start that is held')
    .argument('[message_id]', 'id of the sent message')
    .option('--all', 'all sends that are held')
    .option('--even-if-delivered', 'send it again to recipients that are unknown: they may get it twice')
    .addHelpText('after', RETRY_HELP)
    .action((messageId: string | undefined, options: RetryOptions) =>
      cli.change(box => retry(box, messageId, options)),
    );

  queue
    .command('resume')
    .description('let a store that was restored from a backup send and call webhooks again')
    .action(() => cli.change(async box => answerResumed(await resumeSending(box))));
}

async function retry(
  box: Box,
  messageId: string | undefined,
  { all = false, evenIfDelivered = false }: RetryOptions,
): Promise<Answer> {
  if ((messageId === undefined) !== all) {
    throw failed(
      'usage',
      'Give the id of one sent message ("postern queue list" shows those that wait), or --all.',
    );
  }
  if (messageId === undefined) {
    if (evenIfDelivered)
      throw failed('usage', '--even-if-delivered is for one message: give its id, not --all.');
    return answerWith(await retrySends(box, null), renderAllRetried);
  }
  const missing = noSuchMessage(messageId);
  if (evenIfDelivered) {
    const again = () => retryUnknown(retryDeps(box), messageId);
    return answerWith(await orMissing(missing, again), tellOf(box));
  }
  const delivered = await retryDeliveries(box, messageId);
  if (delivered !== null) return answerWith(delivered, tellOf(box));
  return answerWith(await orMissing(missing, () => retrySends(box, messageId)), renderRetried);
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

/** Signed whatever the transport is now: what has deliveries is delivered from here. */
function retryDeps({ store, clock, config }: Box): Parameters<typeof retryUnknown>[0] {
  const keys = { store, clock, maxQueuedMs: maxQueuedMs(config), domains: config.mail.domains };
  return { store, clock, uploads: new BlobUploads(store), signer: mailSigner(keys, { isRedated: false }) };
}

function cancel(box: Box, messageId: string): Promise<ChangedDeliveries> {
  const missing = failed(
    'not_found',
    `There is no delivery of a message ${messageId === '' ? '""' : messageId}. "postern queue list" shows what waits; what a relay has taken cannot be cancelled.`,
  );
  return orMissing(missing, () => cancelDeliveries(box, messageId));
}

function describe({ store, config }: Box, messageId: string): Promise<MessageDeliveries> {
  const missing = noSuchMessage(messageId);
  return orMissing(missing, () => describeDeliveries({ store, maxAgeMs: maxQueuedMs(config) }, messageId));
}

function noSuchMessage(messageId: string): CommandRefusal {
  return failed(
    'not_found',
    `There is no sent message ${messageId === '' ? '""' : messageId}. "postern queue list" shows what waits, "postern sent list INBOX" what was sent.`,
  );
}

function renderDescribed({ deliveries, ...message }: MessageDeliveries): string {
  return [message, ...deliveries].map(renderFields).join('\n');
}

function renderQueue({ deliveries, has_more }: QueuePage): string {
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
  const table = renderTable(rows, columns, 'Nothing waits to be delivered.');
  return has_more ? `${table}There are more: add --limit ${MAX_SHOWN}\n` : table;
}

function renderCancelled({ recipients }: ChangedDeliveries): string {
  return recipients.length === 0
    ? 'Nothing of it waits, so nothing was cancelled. "postern queue show" tells what became of it.\n'
    : `Not tried any more: ${recipients.join(', ')}\n`;
}

/** With another transport the daemon delivers from here only if something waited for that when it was started. */
function tellOf({ config }: Box): (changed: ChangedDeliveries) => string {
  const isDirect = config.relay.transport === 'direct';
  const note = isDirect
    ? ''
    : 'relay.transport is not "direct": if nothing else waits to be delivered, restart the daemon.\n';
  return ({ recipients }) => `Tried again within a minute: ${recipients.join(', ')}\n${note}`;
}

function renderStatus({ parse, relay, deliver, held, is_partial }: QueueStatus): string {
  const counts = {
    waiting_to_be_parsed: parse.waiting,
    oldest_of_them_s: parse.oldest_age_s,
    waiting_to_be_sent: relay.waiting,
    being_sent: relay.started,
    oldest_unsent_s: relay.oldest_age_s,
    waiting_to_be_delivered: deliver.waiting,
    longest_overdue_s: deliver.oldest_age_s,
  };
  const more = is_partial ? 'There is more than was counted.\n' : '';
  const rows = held.map(({ in_trash, ...send }) => ({ ...send, in_trash: in_trash ? 'yes' : null }));
  const columns = ['id', 'inbox_id', 'created_at', 'in_trash', 'subject'];
  const table = renderTable(rows, columns, 'No send is held.');
  return `${renderFields(counts)}${more}\nHeld: not sent for a day, put into Trash, or waiting when the backup was made that the store is from ("postern queue retry" lets go):\n${table}`;
}
