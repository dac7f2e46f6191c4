import type { Command } from 'commander';
import { type BoxStatus, MAX_COUNTED, readStatus } from '../usecases/read-status.js';
import { answer } from './outcome.js';
import { formatBytes, formatDuration, renderFields } from './output.js';
import type { Cli } from './run-command.js';

/** `postern status`: how the box is. Needs no daemon. */
export function addStatusCommand(program: Command, cli: Cli): void {
  program
    .command('status')
    .description('show how the box is; works with and without a daemon')
    .action(() =>
      cli.read(async box => {
        const { path, mapSizeGib } = box.config.store;
        const { store, ...status } = await readStatus(box);
        const document = {
          version: cli.deps.version,
          ...status,
          store: { path, ...store, map_size_bytes: mapSizeGib * 2 ** 30 },
        };
        return answer(document, renderFields(linesOf(document)));
      }),
    );
}

type StatusDocument = BoxStatus & {
  readonly version: string;
  readonly store: { readonly path: string; readonly map_size_bytes: number };
};

function linesOf({ version, daemon, store, counts, pending }: StatusDocument): object {
  const room = store.has_room ? '' : ' (NO ROOM: new mail is refused until there is more)';
  return {
    version,
    daemon:
      daemon === null
        ? 'not running'
        : `running, pid ${daemon.pid}, version ${daemon.version}, up ${formatDuration(daemon.uptime_s)}`,
    store: `${store.path}, schema ${store.schema}`,
    used: `${formatBytes(store.used_bytes)} of ${formatBytes(store.map_size_bytes)}`,
    disk_free: `${formatBytes(store.disk_free_bytes)}${room}`,
    accounts: counts.accounts,
    inboxes: counts.inboxes,
    messages: counts.messages,
    to_be_parsed: waiting(pending),
  };
}

function waiting({ messages, oldest_age_s }: BoxStatus['pending']): string {
  if (oldest_age_s === null) return '0';
  const count = messages >= MAX_COUNTED ? `${MAX_COUNTED} or more` : String(messages);
  return `${count}, the oldest for ${formatDuration(oldest_age_s)}`;
}
