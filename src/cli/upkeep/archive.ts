import { spawn } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Folder, flush } from '../../store/private-files.js';
import { failed } from '../outcome.js';

/** The ending of a backup that is packed into one file. */
export const PACKED = '.tar.zst';

/**
 * Packs what is in a folder into one file, which is there whole or not at all, and for its owner alone. What others put
 * under its name meanwhile is not written to: tar gets the very file that was made.
 * @throws a refusal when tar or zstd is not installed, or fails
 */
export async function packFolder(folder: string, file: string): Promise<void> {
  await checkPrograms();
  const into = Folder.open(dirname(file));
  const name = basename(file);
  const unfinished = `${name}.unfinished`;
  try {
    into.remove(unfinished);
    const handle = into.createFile(unfinished);
    try {
      // Lock files of LMDB say nothing about the data.
      const args = ['--create', '--file', '-', '--exclude=lock.mdb', '-C', folder, '.'];
      await run('tar', [...ZSTD, ...args], handle);
      fsyncSync(handle);
      into.replace(unfinished, name);
      flush(into.path);
    } catch (error) {
      into.remove(unfinished);
      throw error;
    } finally {
      closeSync(handle);
    }
  } finally {
    into.close();
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

/** @throws a refusal when tar or zstd is not installed */
export async function checkPrograms(): Promise<void> {
  for (const program of ['tar', 'zstd']) await run(program, ['--version']);
}

/** @param output a handle for what it writes to its standard output; null: nobody wants that */
function run(program: string, args: readonly string[], output: number | null = null): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', output ?? 'ignore', 'pipe'] });
    let words = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
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
