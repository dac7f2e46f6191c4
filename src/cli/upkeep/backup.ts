import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { refuse } from '../../domain/errors.js';
import { readManifest } from '../../store/backup/manifest.js';
import { ownFolder, type WrittenBackup } from '../../store/backup/write-backup.js';
import { flush } from '../../store/private-files.js';
import { type BackedUp, type BackUpInput, backUp } from '../../usecases/upkeep/back-up.js';
import { wholeNumber } from '../arguments.js';
import type { Box } from '../context.js';
import { type Answer, answer, failed } from '../outcome.js';
import { formatBytes, formatDuration, renderFields } from '../output.js';
import { startProgress } from '../progress.js';
import type { Cli } from '../run-command.js';
import { checkPrograms, PACKED, packFolder } from './archive.js';
import { type FilesToKeep, filesToKeep, ownFilesToKeep } from './files-to-keep.js';

const HELP = `
The daemon goes on serving. The backup is of one instant: everything that was acknowledged by then is in it, with the
configuration, the files that it names (keys of certificates, passwords) and DKIM keys, for their owner alone. The
search index is not; it is made anew after a restore.

  postern backup /mnt/backup            makes a backup in that folder; run again, it copies what is new. Whenever it is
                                        interrupted, the backup from before is whole, and the next run goes on
  postern backup /mnt/backup --keep 7   makes one of seven in that folder, each named by its instant, in place of the
                                        oldest (systemd/postern-backup.timer does this each night)
  postern backup mail${PACKED}          makes one and packs it into a file; needs tar and zstd
  postern backup mail${PACKED} --from /mnt/backup   packs one that is there

"postern verify DIR" checks a backup as it lies, "postern restore" makes a store of it. While the last part is copied,
the store of a busy daemon grows; that room is used again. Mail that was deleted is in no backup made after that, but
its bytes may still lie in free pages of a folder that is brought up to date: begin a new one where that matters.
`;

const MAX_KEPT = 365;
/** The backup in a folder of several while it is made. */
const NEXT = 'next';
const COPY = /^\d{4}-\d{2}-\d{2}T\d{6}\.\d{3}Z$/;

interface BackupFlags {
  readonly keep?: number;
  readonly from?: string;
}

/** `postern backup`: one consistent copy of everything, beside a daemon that serves. */
export function addBackupCommand(program: Command, cli: Cli): void {
  program
    .command('backup')
    .description('make a backup, or bring one up to date, while the daemon serves')
    .argument('<target>', `folder, or a file that ends in ${PACKED}`)
    .option(
      '--keep <n>',
      `keep the newest n backups in the folder, 1 to ${MAX_KEPT}`,
      wholeNumber(1, MAX_KEPT),
    )
    .option('--from <dir>', `pack the backup in this folder, instead of making one`)
    .addHelpText('after', HELP)
    .action((named: string, flags: BackupFlags) => {
      const target = resolve(cli.deps.cwd, named);
      const isPacked = target.endsWith(PACKED);
      if (flags.from !== undefined) return packExisting(cli, target, isPacked, flags.from);
      // Before the process becomes the owner of the data directory: root may read more.
      let ofRoot: FilesToKeep = { files: [], missing: [] };
      let configFile: string | null = null;
      return cli.change(
        async box => {
          const own = ownFilesToKeep({ config: box.config, file: configFile });
          const kept = {
            files: [...ofRoot.files, ...own.files],
            missing: [...ofRoot.missing, ...own.missing],
          };
          for (const words of kept.missing) {
            await cli.deps.stderr(`postern: not in the backup: ${words}\n`);
          }
          if (isPacked && flags.keep !== undefined) {
            throw failed('usage', `--keep is for a folder, not for a ${PACKED} file.`);
          }
          if (isPacked) return makePacked(cli, box, target, kept);
          if (flags.keep !== undefined) return makeOneOf(cli, box, target, kept, flags.keep);
          return describe(await make(cli, box, kept, { directory: target }), kept);
        },
        {
          makesStore: false,
          before: loaded => {
            ofRoot = filesToKeep(cli.deps, loaded);
            configFile = loaded.file;
          },
        },
      );
    });
}

type Place = Pick<BackUpInput, 'directory' | 'begin' | 'finish'>;

async function make(cli: Cli, box: Box, { files }: FilesToKeep, place: Place): Promise<BackedUp> {
  const { store, clock, config } = box;
  const bar = startProgress(cli.deps, { of: 'backup', bytes: null, isShown: !cli.isJson() });
  const labels = { blobs: 'copying mail   ', records: 'copying records', sums: 'adding up      ' } as const;
  try {
    return await backUp(
      {
        store,
        clock,
        version: cli.deps.version,
        diskFloorBytes: config.store.diskFloorMib * 2 ** 20,
        mapSizeBytes: config.store.mapSizeGib * 2 ** 30,
      },
      {
        ...place,
        files,
        onProgress: ({ step, done, total }) => bar.show(labels[step], done, step === 'sums' ? null : total),
      },
    );
  } finally {
    await bar.end();
  }
}

/** One of several: the oldest is brought up to date, and renamed when it is the newest. */
async function makeOneOf(
  cli: Cli,
  box: Box,
  folder: string,
  kept: FilesToKeep,
  keep: number,
): Promise<Answer> {
  const place = ownFolder(folder, checkIsForBackups);
  const copies = (): string[] =>
    readdirSync(place)
      .filter(name => COPY.test(name))
      .sort();
  const directory = join(place, NEXT);
  const begin = (): void => {
    const [oldest] = copies();
    if (!existsSync(directory) && oldest !== undefined && copies().length >= keep) {
      renameSync(join(place, oldest), directory);
    }
  };
  const finish = async ({ manifest }: WrittenBackup): Promise<string> => {
    // One is made at a time, so no two are of the same millisecond.
    const name = manifest.snapshot_at.replaceAll(':', '');
    renameSync(directory, join(place, name));
    flush(place);
    // By a clock that was set back, the one just made is not the last by its name.
    const others = copies().filter(copy => copy !== name);
    for (const old of others.slice(0, Math.max(0, others.length - (keep - 1)))) {
      rmSync(join(place, old), { recursive: true, force: true });
    }
    return join(place, name);
  };
  return describe(await make(cli, box, kept, { directory, begin, finish }), kept);
}

/** A folder that would have to be closed to others first holds backups, and nothing of those others. */
function checkIsForBackups(folder: string): void {
  const [other] = readdirSync(folder).filter(
    name => !COPY.test(name) && name !== NEXT && name !== 'lost+found',
  );
  if (other === undefined || (statSync(folder).mode & 0o077) === 0) return;
  throw refuse(
    'invalid_request',
    `${folder} is open to other users and holds more than backups (${other} is in it). Nothing was changed: name a folder of their own for the backups.`,
  );
}

/** Its folder goes once the file is whole; one that is left by a killed run is gone on with. */
async function makePacked(cli: Cli, box: Box, file: string, kept: FilesToKeep): Promise<Answer> {
  await checkPrograms();
  const directory = `${file}.folder`;
  const finish = async (): Promise<string> => {
    await pack(cli, directory, file);
    rmSync(directory, { recursive: true, force: true });
    return file;
  };
  return describe(await make(cli, box, kept, { directory, finish }), kept);
}

function packExisting(cli: Cli, file: string, isPacked: boolean, from: string): Promise<void> {
  return cli.plain(async () => {
    if (!isPacked) throw failed('usage', `--from is for a file that ends in ${PACKED}.`);
    const folder = resolve(cli.deps.cwd, from);
    const manifest = readManifest(folder);
    await pack(cli, folder, file);
    const document = { path: file, snapshot_at: manifest.snapshot_at };
    return answer(document, renderFields(document));
  });
}

async function pack(cli: Cli, folder: string, file: string): Promise<void> {
  const bar = startProgress(cli.deps, { of: 'backup', bytes: null, isShown: !cli.isJson() });
  bar.show('packing', 0, null);
  try {
    await packFolder(folder, file);
  } finally {
    await bar.end();
  }
}

function describe(made: BackedUp, { missing }: FilesToKeep): Answer {
  const { path, manifest, copiedBlobBytes, growthBytes, snapshotMs } = made;
  const { snapshot_at, started_at, finished_at, records, blobs, files } = manifest;
  const document = {
    path,
    snapshot_at,
    took_s: (Date.parse(finished_at) - Date.parse(started_at)) / 1000,
    records: records.entries,
    records_bytes: records.bytes,
    blobs: blobs.count,
    blob_bytes: blobs.bytes,
    copied_blob_bytes: copiedBlobBytes,
    snapshot_held_s: Math.round(snapshotMs) / 1000,
    store_growth_bytes: growthBytes,
    files: files.map(file => file.path),
    missing_files: missing,
  };
  const shown = {
    backup: path,
    of: snapshot_at,
    took: formatDuration(Math.round(document.took_s)),
    records: `${records.entries}, ${formatBytes(records.bytes)}`,
    mail: `${blobs.count} blobs, ${formatBytes(blobs.bytes)}; ${formatBytes(copiedBlobBytes)} of them new`,
    files: files.length,
    store_grew_by: `${formatBytes(growthBytes)}, one state was held for ${document.snapshot_held_s} s`,
  };
  return answer(document, renderFields(shown));
}
