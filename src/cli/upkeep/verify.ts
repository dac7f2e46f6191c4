import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Command } from 'commander';
import { reasonOf } from '../../lib/async.js';
import { isBackup, isUnfinishedBackup } from '../../store/backup/manifest.js';
import {
  BackupDamagedError,
  checkSums,
  type OpenBackup,
  openBackup,
} from '../../store/backup/open-backup.js';
import { getMeta } from '../../store/engine/meta.js';
import type { Store } from '../../store/engine/store.js';
import { MIGRATIONS, openStoreReadOnly } from '../../store/open-store.js';
import { type Verification, verifyStore } from '../../store/verify/verify-store.js';
import { becomeOwnerOf } from '../context.js';
import { type Answer, answer, failed } from '../outcome.js';
import { renderFields } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
DIR is a data directory, a backup as it lies, or a copy of a store; without it, the store of the configuration is verified. Nothing
in it is changed, and a daemon may go on serving it: what is verified is one instant. Of a large store that
takes a while (two minutes for a million messages), during which a busy daemon's store grows; verify a copy
instead.
`;

/** `postern verify`: does the store hold together? */
export function addVerifyCommand(program: Command, cli: Cli): void {
  program
    .command('verify')
    .description('hold every record of a store against every index and every stored byte')
    .argument('[dir]', 'data directory or backup (default: that of the configuration)')
    .addHelpText('after', HELP)
    .action((directory: string | undefined) =>
      cli.plain(() => {
        if (directory !== undefined) {
          return verifyAt(isAbsolute(directory) ? directory : join(cli.deps.cwd, directory));
        }
        const loaded = cli.readConfig();
        return verifyAt(loaded.config.store.path);
      }),
    );
}

async function verifyAt(directory: string): Promise<Answer> {
  if (isBackup(directory) || isUnfinishedBackup(directory)) return verifyBackup(directory);
  const environment = [join(directory, 'store'), directory].find(path => existsSync(join(path, 'data.mdb')));
  if (environment === undefined) {
    throw failed('no_store', `There is no store in ${directory}, or it is out of reach.`);
  }
  becomeOwnerOf(directory, { makesStore: false });
  let store: Store;
  try {
    store = openStoreReadOnly(environment);
  } catch (error) {
    throw failed('store_unavailable', `The store in ${environment} cannot be opened: ${reasonOf(error)}.`);
  }
  try {
    const schema = store.read(reader => getMeta(reader, 'schema')) ?? 0;
    if (schema !== MIGRATIONS.length) {
      throw failed(
        'store_unavailable',
        `The store in ${environment} has schema ${schema}, this program verifies schema ${MIGRATIONS.length}: use the version that wrote it, or open it with this one first.`,
      );
    }
    return outcomeOf(environment, verifyStore(store));
  } finally {
    await store.close();
  }
}

/** Sums first: they tell which bytes are at fault. */
async function verifyBackup(directory: string): Promise<Answer> {
  becomeOwnerOf(directory, { makesStore: false });
  const backup = openSound(directory);
  try {
    const faults = checkSums(directory, backup);
    if (faults.length > 0) throw damaged(directory, faults);
    const { schema, version } = backup.manifest;
    if (schema !== MIGRATIONS.length) {
      throw failed(
        'store_unavailable',
        `Every byte of the backup in ${directory} is as it was written, but it has schema ${schema} (of version ${version}), and this program verifies records of schema ${MIGRATIONS.length}. A restore upgrades and verifies it.`,
      );
    }
    return outcomeOf(directory, verifyStore(backup.store, backup.isListed));
  } finally {
    await backup.store.close();
  }
}

function openSound(directory: string): OpenBackup {
  try {
    return openBackup(directory);
  } catch (error) {
    throw error instanceof BackupDamagedError ? damaged(directory, [error.fault]) : error;
  }
}

function damaged(directory: string, faults: readonly string[]): Error {
  const words = [`the backup in ${directory} is damaged:`, ...faults].join('\n');
  return failed('store_damaged', words, { path: directory, sound: false, faults });
}

function outcomeOf(path: string, { checked, faults, has_more_faults }: Verification): Answer {
  if (faults.length === 0) {
    const document = { path, sound: true, ...checked };
    return answer(document, renderFields(document));
  }
  const more = has_more_faults ? ['... and more'] : [];
  throw failed(
    'store_damaged',
    [`the store in ${path} does not hold together:`, ...faults, ...more].join('\n'),
    { path, sound: false, ...checked, faults, has_more_faults },
  );
}
