import { resolve } from 'node:path';
import type { Command } from 'commander';
import { resumeSending } from '../../usecases/upkeep/mark-restored.js';
import { type Restored, type RestoreProgress, restoreBackup } from '../../usecases/upkeep/restore.js';
import { becomeOwnerOf } from '../context.js';
import { type Answer, answer, failed } from '../outcome.js';
import { renderFields } from '../output.js';
import { type Progress, startProgress } from '../progress.js';
import { answerResumed } from '../resumed.js';
import type { Cli } from '../run-command.js';
import { PACKED, unpackInto } from './archive.js';

const HELP = `
The store is made in store.path of the configuration, which must be empty; it is verified before it is put in place,
and nothing is ever overwritten. On a new machine, take the configuration from the backup first: it lies in
DIR/snapshot-N/files, with the keys and passwords that it names.

A backup does not know what happened after it: what was sent (a client that tries again would send it twice), which
keys were made and which were revoked, which mail came and went. So the restored service receives and shows mail, but
sends nothing and calls no webhook, and answers new sends with 503, until you say
  postern restore --resume-sending
Sends that waited when the backup was made stay held ("postern queue status"), deliveries that waited are unknown.
Links for approval and claim phrases are void. Feeds of events begin anew.
Before you resume: revoke keys that were revoked since ("postern key list"), and tell the agents.
`;

/** `postern restore`: makes a store of a backup. */
export function addRestoreCommand(program: Command, cli: Cli): void {
  program
    .command('restore')
    .description('make the store from a backup, or let a restored one send again')
    .argument('[backup]', `folder of a backup, or a ${PACKED} file`)
    .option('--resume-sending', 'let the restored store send and call webhooks again')
    .addHelpText('after', HELP)
    .action((backup: string | undefined, { resumeSending: isResume = false }: RestoreFlags) => {
      if ((backup === undefined) !== isResume) {
        return cli.plain(() => {
          throw usage();
        });
      }
      if (backup === undefined) return resume(cli);
      return cli.plain(() => restore(cli, resolve(cli.deps.cwd, backup)));
    });
}

interface RestoreFlags {
  readonly resumeSending?: boolean;
}

async function restore(cli: Cli, backup: string): Promise<Answer> {
  const { config } = cli.readConfig();
  const { path, mapSizeGib, diskFloorMib } = config.store;
  becomeOwnerOf(path, { makesStore: true });
  const bar = startProgress(cli.deps, { of: 'restore', bytes: null, isShown: !cli.isJson() });
  const deps = {
    clock: Date.now,
    path,
    mapSizeBytes: mapSizeGib * 2 ** 30,
    diskFloorBytes: diskFloorMib * 2 ** 20,
  };
  const isPacked = backup.endsWith(PACKED);
  const unpack = (folder: string): Promise<string> => {
    bar.show('unpacking', 0, null);
    return unpackInto(folder, backup);
  };
  try {
    const source = isPacked ? unpack : backup;
    const restored = await restoreBackup(deps, source, progress => show(bar, progress));
    await bar.end();
    return describe(path, restored, isPacked);
  } finally {
    await bar.end();
  }
}

function show(bar: Progress, progress: RestoreProgress): void {
  if (progress.step === 'copy') bar.show('copying  ', progress.done, progress.total);
  else bar.show('verifying', 0, null);
}

function describe(path: string, restored: Restored, isPacked: boolean): Answer {
  const { snapshotAt, version, messages, sent, marks, files } = restored;
  const document = {
    path,
    snapshot_at: snapshotAt,
    made_by_version: version,
    messages,
    sent,
    ...marks,
    is_held: true,
    files: files.map(file => ({ path: file.path, copy: isPacked ? null : file.copy })),
  };
  const { held_sends, unknown_sends, unknown_deliveries, voided_links, voided_phrases } = marks;
  const shown = {
    restored: path,
    from_a_backup_of: snapshotAt,
    messages,
    sent,
    held: `${held_sends} sends that waited ("postern queue status")`,
    unknown: `${unknown_sends} sends that were under way, ${unknown_deliveries} deliveries that waited`,
    void: `${voided_links} links for approval, ${voided_phrases} claim phrases`,
  };
  return answer(document, `${renderFields(shown)}\n${nextSteps(snapshotAt)}`);
}

function nextSteps(snapshotAt: string): string {
  return `Not known here is what happened after ${snapshotAt}: mail that came and was sent, keys that were made or
revoked. Nothing is sent and no webhook is called until you say so:
  postern key list --account EMAIL       revoke again what was revoked since
  postern serve                          (systemctl start postern) receives and shows mail
  postern restore --resume-sending       lets it send: a client may now send again what it has sent since the backup
`;
}

function resume(cli: Cli): Promise<void> {
  return cli.change(async ({ store, clock }) => answerResumed(await resumeSending({ store, clock })));
}

function usage(): Error {
  return failed(
    'usage',
    `Name a backup (a folder, or a ${PACKED} file) to make the store of it, or give --resume-sending.`,
  );
}
