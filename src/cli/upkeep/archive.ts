import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flush, writePrivateFile } from '../../store/private-files.js';
import { failed } from '../outcome.js';

/** The ending of a backup that is packed into one file. */
export const PACKED = '.tar.zst';

/**
 * Packs what is in a folder into one file, which is there whole or not at all, and for its owner alone.
 * @throws a refusal when tar or zstd is not installed, or fails
 */
export async function packFolder(folder: string, file: string): Promise<void> {
  await checkPrograms();
  const unfinished = `${file}.unfinished`;
  // Made before tar writes it: nobody else can read any of it.
  writePrivateFile(unfinished, '');
  try {
    // Lock files of LMDB say nothing about the data.
    await run('tar', [...ZSTD, '--create', '--file', unfinished, '--exclude=lock.mdb', '-C', folder, '.']);
    flush(unfinished);
    renameSync(unfinished, file);
    flush(dirname(file));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Unpacks a file into a new folder inside another. @returns the folder */
export async function unpackInto(parent: string, file: string): Promise<string> {
  await checkPrograms();
  const folder = join(parent, 'unpacked');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const asOurs = ['--no-same-owner', '--no-same-permissions'];
  await run('tar', [...ZSTD, ...asOurs, '--extract', '--file', file, '-C', folder]);
  return folder;
}

/** All processors; tar tells it when to decompress. */
const ZSTD = ['--use-compress-program', 'zstd -T0'];

async function checkPrograms(): Promise<void> {
  for (const program of ['tar', 'zstd']) await run(program, ['--version']);
}

function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = `${words}${text}`.slice(-2_000);
    });
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? failed(
              'program_missing',
              `${program} is not installed, and a ${PACKED} file needs it: "apt install ${program}", or use a folder in its place.`,
            )
          : error,
      ),
    );
    child.once('close', code => {
      if (code === 0) resolve();
      else reject(failed('archive_failed', `${program} failed (${code ?? 'killed'}): ${words.trim()}`));
    });
  });
}
