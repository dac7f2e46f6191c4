import { type Command, Option } from 'commander';
import { DEFAULT_PAGE, MAX_PAGE } from '../../contract/limits.js';

import { normaliseFilter } from '../../domain/message-filter.js';
import { CursorCodec } from '../../domain/paging.js';
import { getMeta } from '../../store/engine/meta.js';
import type { MessageKind } from '../../store/mailbox/folders.js';
import {
  type ListInput,
  type ListOrder,
  listMessages,
  type MessagePage,
} from '../../usecases/mailbox/list-messages.js';
import { Rankings } from '../../usecases/search/rankings.js';
import { type SearchDeps, searchMessages } from '../../usecases/search/search-messages.js';
import { everyValue, wholeNumber } from '../arguments.js';
import type { Box } from '../context.js';
import { inboxNamed } from '../named.js';
import type { Cli } from '../run-command.js';

/** Options of a list of messages. */
export interface ListOptions {
  readonly label: readonly string[];
  readonly anyLabel: readonly string[];
  readonly withoutLabel: readonly string[];
  readonly from?: string;
  readonly recipient?: string;
  readonly subject?: string;
  readonly after?: string;
  readonly before?: string;
  readonly query?: string;
  /** Of received mail only. */
  readonly authentication?: string;
  readonly order: ListOrder;
  readonly limit: number;
  readonly cursor?: string;
}

const ORDERS: readonly ListOrder[] = ['newest', 'oldest'];

/** Adds the filters, order and paging of lists to a command. */
export function addListOptions(command: Command): Command {
  return command
    .option('--label <name>', 'has this label; repeat it for more, all of which it must have', everyValue, [])
    .option('--any-label <name>', 'has this label or another one given so', everyValue, [])
    .option('--without-label <name>', 'does not have this label; may be repeated', everyValue, [])
    .option('--from <address>', 'is from this address (From header)')
    .option('--recipient <address>', 'is to this address (To, Cc or Bcc header)')
    .option('--subject <text>', 'has this in its subject, letter case aside')
    .option('--query <words>', 'has these words in subject or body, phrases in double quotes')
    .option('--after <instant>', 'came at or after this instant, like 2026-01-31T12:00:00Z')
    .option('--before <instant>', 'came before this instant')
    .addOption(new Option('--order <order>', 'newest or oldest first').choices(ORDERS).default('newest'))
    .option('--limit <n>', `at most so many, up to ${MAX_PAGE}`, wholeNumber(1, MAX_PAGE), DEFAULT_PAGE)
    .option('--cursor <cursor>', 'go on where a list ended: its next_cursor');
}

export interface NamedList<Summary> {
  readonly messages: readonly Summary[];
  readonly next_cursor: string | null;
}

/** A page of the messages of an inbox, of one kind. */
export async function listNamed<Summary>(
  cli: Cli,
  box: Box,
  kind: MessageKind,
  named: string,
  options: ListOptions,
): Promise<NamedList<Summary>> {
  const inbox = inboxNamed(box, named);
  const groups = { all: options.label, any: options.anyLabel, none: options.withoutLabel };
  const filter = normaliseFilter(groups, options);
  const cursors = new CursorCodec(box.store.read(reader => getMeta(reader, 'identity'))?.cursorSecret ?? '');
  const input: ListInput = {
    accountId: inbox.accountId,
    inboxId: inbox.id,
    kind,
    filter,
    order: options.order,
    limit: options.limit,
    cursor: options.cursor ?? null,
  };
  const deps = { store: box.store, cursors };
  const page = filter.terms.length > 0 ? await search(cli, deps, input) : listMessages(deps, input);
  const messages = page.summaries.map(bytes => JSON.parse(bytes.toString('utf8')) as Summary);
  return { messages, next_cursor: page.nextCursor };
}

/** Without the daemon, too, as long as it left little that is not in the index. */
async function search(
  { deps: { openIndex } }: Cli,
  deps: Pick<SearchDeps, 'store' | 'cursors'>,
  input: ListInput,
): Promise<MessagePage> {
  const index = await openIndex(deps.store);
  try {
    return await searchMessages({ ...deps, index, rankings: new Rankings() }, input);
  } finally {
    index.close();
  }
}
