import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RestoredView } from '../../usecases/upkeep/mark-restored.js';
import { type BoxStatus, MAX_COUNTED, readStatus } from '../../usecases/upkeep/read-status.js';
import { wholeNumber } from '../arguments.js';
import type { Box } from '../context.js';
import type { CertificateStatus } from '../dependencies.js';
import { answer, bytesAnswer } from '../outcome.js';
import { formatBytes, formatDuration, renderFields } from '../output.js';
import type { Cli } from '../run-command.js';
import { certificateLine } from '../tls/tls.js';
import { clockLine } from './clock.js';
import { waitingLine } from './search.js';

/** `postern status`: how the box is. Needs no daemon. */
export function addStatusCommand(program: Command, cli: Cli): void {
  program
    .command('status')
    .description('show how the box is; works with and without a daemon')
    .option(
      '--watch [seconds]',
      'show it again every so many seconds (default: 2), until interrupted',
      seconds,
    )
    .action(({ watch }: { readonly watch?: number | true }) =>
      cli.read(async box => {
        if (watch !== undefined) return bytesAnswer(again(cli, box, watch === true ? 2 : watch));
        const document = await look(cli, box);
        return answer(document, renderFields(linesOf(document)));
      }),
    );
}

const seconds = wholeNumber(1, 3600);

async function look(cli: Cli, box: Box): Promise<StatusDocument> {
  const { path, mapSizeGib } = box.config.store;
  const { store, ...status } = await readStatus({ ...box, readClock: cli.deps.readClock });
  const certificates = await cli.deps.certificates();
  return {
    version: cli.deps.version,
    ...status,
    certificates: certificates.status(box.config),
    store: { path, ...store, map_size_bytes: mapSizeGib * 2 ** 30 },
  };
}

/** Without an end: whoever watches interrupts it. With `--json` a document a line, on a terminal in place of the last. */
async function* again(cli: Cli, box: Box, everyS: number): AsyncGenerator<Buffer> {
  for (;;) {
    const document = await look(cli, box);
    const head = cli.deps.terminals.stdout ? '\x1b[H\x1b[2J' : '';
    const shown = `${head}${new Date(box.clock()).toISOString()}\n${renderFields(linesOf(document))}\n`;
    yield Buffer.from(cli.isJson() ? `${JSON.stringify(document)}\n` : shown);
    await setTimeout(everyS * 1000);
  }
}

type StatusDocument = BoxStatus & {
  readonly version: string;
  readonly certificates: readonly CertificateStatus[];
  readonly store: { readonly path: string; readonly map_size_bytes: number };
};

function linesOf(document: StatusDocument): object {
  const {
    version,
    daemon,
    store,
    restored,
    last_backup,
    clock,
    counts,
    webhooks,
    pending,
    search,
    certificates,
  } = document;
  const room = store.has_room ? '' : ' (NO ROOM: new mail is refused until there is more)';
  return {
    version,
    daemon:
      daemon === null
        ? 'not running'
        : `running, pid ${daemon.pid}, version ${daemon.version}, up ${formatDuration(daemon.uptime_s)}`,
    store: `${store.path}, schema ${store.schema}`,
    used: `${formatBytes(store.used_bytes)} of ${formatBytes(store.map_size_bytes)}`,
    ...(restored === null ? {} : { restored: restoredLine(restored) }),
    last_backup:
      last_backup === null
        ? 'none (see "postern backup --help")'
        : `${last_backup.snapshot_at}, ${formatDuration(last_backup.age_s)} ago, ${formatBytes(last_backup.bytes)} in ${last_backup.path}`,
    disk_free: `${formatBytes(store.disk_free_bytes)}${room}`,
    reusable: `${formatBytes(store.reusable_bytes)} inside the file`,
    clock: clockLine(clock),
    accounts: counts.accounts,
    inboxes: counts.inboxes,
    messages: counts.messages,
    to_be_parsed: waiting(pending.messages, pending.oldest_age_s),
    to_be_sent: `${waiting(pending.sends, pending.oldest_send_age_s)}${held(pending.held_sends)}`,
    to_be_delivered:
      pending.deliveries === 0 ? 0 : `${counted(pending.deliveries)}: see "postern queue list"`,
    to_be_indexed: `${waitingLine(search)}${remade(search.rebuilding.length)}`,
    webhooks: webhookLine(webhooks),
    ...(certificates.length === 0 ? {} : { certificate: certificates.map(certificateLine).join('; ') }),
  };
}

function restoredLine({ restored_at, snapshot_at, is_held }: RestoredView): string {
  const from = `${restored_at}, from a backup of ${snapshot_at}`;
  return is_held ? `${from} (SENDING AND WEBHOOKS ARE HELD: see "postern restore --help")` : from;
}

function waiting(count: number, oldestAgeS: number | null): string {
  return oldestAgeS === null
    ? counted(count)
    : `${counted(count)}, the oldest for ${formatDuration(oldestAgeS)}`;
}

function webhookLine({ all, failing, ended }: BoxStatus['webhooks']): string | number {
  const troubles = [failing > 0 ? `${failing} failing` : '', ended > 0 ? `${ended} ended by themselves` : ''];
  const words = troubles.filter(word => word !== '').join(', ');
  return words === '' ? all : `${all} (${words}: see "postern webhook list")`;
}

function held(count: number): string {
  return count === 0 ? '' : ` (and ${counted(count)} held: see "postern queue status")`;
}

function remade(accounts: number): string {
  return accounts === 0 ? '' : ` (and ${accounts} made anew: see "postern search status")`;
}

function counted(count: number): string {
  return count >= MAX_COUNTED ? `${MAX_COUNTED} or more` : String(count);
}
