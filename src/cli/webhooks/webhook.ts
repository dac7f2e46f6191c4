import { type Command, Option } from 'commander';
import { EVENT_TYPES, type EventType } from '../../contract/events.js';
import type { Webhook, WebhookDeliveries, WebhookTest, WebhookWithSecret } from '../../contract/webhooks.js';
import { EventFeed } from '../../usecases/events/event-feed.js';
import { SILENT } from '../../usecases/ports.js';
import { ADMIN } from '../../usecases/shared/callers.js';
import { listWebhookDeliveries } from '../../usecases/webhooks/list-webhook-deliveries.js';
import { replayWebhook } from '../../usecases/webhooks/replay-webhook.js';
import { testWebhook } from '../../usecases/webhooks/test-webhook.js';
import {
  createWebhook,
  deleteWebhook,
  getWebhookOf,
  listAllWebhooks,
  listWebhooks,
  rotateSecret,
  updateWebhook,
  urlRules,
  type WebhookDeps,
} from '../../usecases/webhooks/webhooks.js';
import { everyValue } from '../arguments.js';
import type { Box } from '../context.js';
import { accountNamed, inboxNamed } from '../named.js';
import { answer, answerWith, failed, orMissing } from '../outcome.js';
import { renderFields, renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
A webhook is an URL of an account that is told of what happens there, by POST, signed as Standard Webhooks says. Its human
is told by mail when it is made and when its URL changes. WEBHOOK is an id, from "postern webhook list".
`;

interface Choice {
  readonly type: readonly string[];
  readonly inbox: readonly string[];
}

/** `postern webhook`: endpoints that are told of what happens in an account. */
export function addWebhookCommands(program: Command, cli: Cli): void {
  const webhook = program
    .command('webhook')
    .description('webhooks: endpoints that are told of events by HTTP')
    .addHelpText('after', HELP);
  addLooks(webhook, cli);
  addChanges(webhook, cli);
  addFollowUps(webhook, cli);
}

function addLooks(webhook: Command, cli: Cli): void {
  webhook
    .command('list')
    .description('list webhooks')
    .option('--account <email>', 'only those of this account (email address or id)')
    .action(({ account }: { account?: string }) =>
      cli.read(box => {
        const accountId = account === undefined ? null : accountNamed(box, account).id;
        const webhooks =
          accountId === null
            ? listAllWebhooks(box)
            : listWebhooks(box, accountId).webhooks.map(one => ({ ...one, account_id: accountId }));
        const columns = ['id', 'account_id', 'status', 'waiting', 'failing_since', 'url'];
        return answer({ webhooks }, renderTable(webhooks, columns, 'No webhooks.'));
      }),
    );

  webhook
    .command('show')
    .description('show a webhook')
    .argument('<webhook>', 'id of the webhook')
    .action((webhookId: string) =>
      cli.read(async box =>
        answerWith(await known(webhookId, () => getWebhookOf(box, { caller: ADMIN, webhookId })), render),
      ),
    );

  webhook
    .command('deliveries')
    .description('show what waits to be sent again, and the newest outcomes')
    .argument('<webhook>', 'id of the webhook')
    .action((webhookId: string) =>
      cli.read(async box =>
        answerWith(
          await known(webhookId, () => listWebhookDeliveries(box, { caller: ADMIN, webhookId })),
          renderDeliveries,
        ),
      ),
    );
}

function addChanges(webhook: Command, cli: Cli): void {
  choices(webhook.command('create').description('make a webhook; its secret is shown this once'))
    .argument('<url>', 'where events are sent')
    .requiredOption('--account <email>', 'email address or id of the account')
    .action((url: string, options: Choice & { account: string }) =>
      cli.change(async box => {
        const accountId = accountNamed(box, options.account).id;
        const made = await createWebhook(depsOf(box), { accountId, url, ...chosen(box, options) });
        return answerWith(made, renderSecret);
      }),
    );

  choices(webhook.command('set').description('change a webhook; what is not given stays'))
    .argument('<webhook>', 'id of the webhook')
    .option('--url <url>', 'where events are sent from now on')
    .option('--all-types', 'events of all types')
    .option('--all-inboxes', 'events about all inboxes of the account')
    .option('--enable', 'go on from where it stopped, and try at once what waits')
    .option('--disable', 'send nothing more')
    .action((webhookId: string, options: SetOptions) =>
      cli.change(async box => {
        if (options.enable === true && options.disable === true) {
          throw failed('usage', '--enable and --disable exclude each other.');
        }
        const changes = changesOf(box, options);
        return answerWith(
          await known(webhookId, () => updateWebhook(depsOf(box), { caller: ADMIN, webhookId, ...changes })),
          render,
        );
      }),
    );

  webhook
    .command('delete')
    .description('delete a webhook')
    .argument('<webhook>', 'id of the webhook')
    .action((webhookId: string) =>
      cli.change(async box =>
        answerWith(
          await known(webhookId, () => deleteWebhook(depsOf(box), { caller: ADMIN, webhookId })),
          renderFields,
        ),
      ),
    );

  webhook
    .command('rotate')
    .description('give a webhook a new secret, shown this once; the old one signs beside it for 24 hours')
    .argument('<webhook>', 'id of the webhook')
    .action((webhookId: string) =>
      cli.change(async box =>
        answerWith(
          await known(webhookId, () => rotateSecret(depsOf(box), { caller: ADMIN, webhookId })),
          renderSecret,
        ),
      ),
    );
}

function addFollowUps(webhook: Command, cli: Cli): void {
  webhook
    .command('test')
    .description('send a test event now, from this process')
    .argument('<webhook>', 'id of the webhook')
    .action((webhookId: string) =>
      cli.change(async box => {
        const outside = await cli.deps.outside();
        const caller = { call: outside.callHook.bind(outside, box.config) };
        const test = () =>
          testWebhook({ ...depsOf(box), caller, tests: { count: 0 } }, { caller: ADMIN, webhookId });
        return answerWith(await known(webhookId, test), renderTest);
      }),
    );

  webhook
    .command('replay')
    .description('send everything again that comes after a place in the feed')
    .argument('<webhook>', 'id of the webhook')
    .requiredOption(
      '--after <place>',
      'the sequence of an event, a cursor of the feed, or now to leave out what was not sent yet',
    )
    .action((webhookId: string, { after }: { after: string }) =>
      cli.change(async box => {
        const place = /^\d{1,14}$/.test(after) ? Number(after) : after;
        const feed = new EventFeed(box);
        const input = { caller: ADMIN, webhookId, after: place };
        try {
          const replayed = await known(webhookId, () => replayWebhook({ ...depsOf(box), feed }, input));
          return answerWith(replayed, render);
        } finally {
          feed.stop();
        }
      }),
    );
}

interface SetOptions extends Choice {
  readonly url?: string;
  readonly allTypes?: true;
  readonly allInboxes?: true;
  readonly enable?: true;
  readonly disable?: true;
}

function choices(command: Command): Command {
  return command
    .addOption(
      new Option('--type <type>', 'only events of this type; may be repeated')
        .argParser(everyValue)
        .default([], 'all'),
    )
    .addOption(
      new Option('--inbox <inbox>', 'only events about this inbox; may be repeated')
        .argParser(everyValue)
        .default([], 'all'),
    );
}

function chosen(
  box: Box,
  { type, inbox }: Choice,
): { readonly types: readonly EventType[]; readonly inbox_ids: readonly string[] } {
  const wrong = type.find(one => !EVENT_TYPES.includes(one as EventType));
  if (wrong !== undefined) {
    throw failed('usage', `There is no type of events ${wrong}. They are: ${EVENT_TYPES.join(', ')}.`);
  }
  return { types: type as readonly EventType[], inbox_ids: inbox.map(name => inboxNamed(box, name).id) };
}

function changesOf(
  box: Box,
  options: SetOptions,
): Omit<Parameters<typeof updateWebhook>[1], 'caller' | 'webhookId'> {
  const { types, inbox_ids } = chosen(box, options);
  const { url, allTypes, allInboxes, enable, disable } = options;
  return {
    ...(url === undefined ? {} : { url }),
    ...(types.length > 0 || allTypes === true ? { types } : {}),
    ...(inbox_ids.length > 0 || allInboxes === true ? { inbox_ids } : {}),
    ...(enable === true ? { enabled: true } : {}),
    ...(disable === true ? { enabled: false } : {}),
  };
}

function depsOf(box: Box): WebhookDeps {
  return { ...box, urls: urlRules(box.config), log: SILENT, limiter: null };
}

function known<Value>(webhookId: string, act: () => Value | Promise<Value>): Promise<Value> {
  const name = webhookId === '' ? '""' : webhookId;
  const missing = failed('not_found', `There is no webhook ${name}. "postern webhook list" shows them all.`);
  return orMissing(missing, act);
}

function fieldsOf({ types, inbox_ids, last_attempt, secrets, ...webhook }: Webhook): object {
  const { at, status, reason } = last_attempt ?? { at: null, status: null, reason: null };
  return {
    ...webhook,
    types: types.length === 0 ? 'all' : types.join(', '),
    inbox_ids: inbox_ids.length === 0 ? 'all' : inbox_ids.join(', '),
    last_attempt: at === null ? null : `${at}: ${reason ?? 'taken'}${status === null ? '' : ` (${status})`}`,
    old_secret_until: secrets[1]?.expires_at ?? null,
  };
}

function render(webhook: Webhook): string {
  return renderFields(fieldsOf(webhook));
}

function renderSecret(webhook: WebhookWithSecret): string {
  return `${render(webhook)}Keep the secret: it is never shown again.\n`;
}

function renderTest({ status, reason }: WebhookTest): string {
  return reason === null
    ? `The endpoint took the test event (${status}).\n`
    : `The endpoint did not take it: ${reason}${status === null ? '' : ` (${status})`}.\n`;
}

function renderDeliveries({ deliveries }: WebhookDeliveries): string {
  const rows = deliveries.map(({ last_attempt, ...one }) => ({
    ...one,
    status: last_attempt.status,
    reason: last_attempt.reason,
    at: last_attempt.at,
  }));
  const columns = ['sequence', 'type', 'state', 'attempts', 'at', 'status', 'reason', 'next_attempt_at'];
  return renderTable(rows, columns, 'Nothing was sent yet.');
}
