import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { KEY_LIST } from '../../config/key-list.js';
import { type Config, configValue } from '../../config/load-config.js';
import { reasonOf } from '../../lib/async.js';
import type { FileToKeep } from '../../store/backup/write-backup.js';
import type { Loaded } from '../context.js';
import type { CliDependencies } from '../dependencies.js';

/** Keys whose values name files that the service cannot do without. */
const NAMES_A_FILE = /(_file|\.tls_cert|\.tls_key)$/;
/** Such files are some KiB long. */
const MAX_FILE_BYTES = 2 ** 20;

export interface FilesToKeep {
  readonly files: readonly FileToKeep[];
  /** Named by the configuration and not to be had: why, in words. */
  readonly missing: readonly string[];
}

/**
 * The configuration file, what the environment sets beside it, and the files that both name: keys of certificates,
 * passwords. To be read before the process gives up the rights of root; so nothing that lies in the data directory is
 * among them, where the daemon's user could have put a link to what is not its own.
 */
export function filesToKeep({ env }: Pick<CliDependencies, 'env'>, { config, file }: Loaded): FilesToKeep {
  const paths = [...(file === null ? [] : [file]), ...namedBy(config)];
  const { files, missing } = readAll(paths.filter(path => !isInStorePath(config, path)));
  const settings = Object.entries(env).filter(([name]) => name.startsWith('POSTERN_'));
  if (settings.length === 0) return { files, missing };
  const lines = settings.map(([name, value]) => `${name}=${value ?? ''}\n`);
  return { files: [...files, { path: 'environment', bytes: Buffer.from(lines.sort().join('')) }], missing };
}

/**
 * What of the same lies in the data directory, and the certificate that an authority has issued, with its keys. To be
 * read once the process is the owner of that directory, as far as that one may.
 */
export function ownFilesToKeep({ config, file }: Pick<Loaded, 'config' | 'file'>): FilesToKeep {
  const paths = [...(file === null ? [] : [file]), ...namedBy(config)];
  const own = paths.filter(path => isInStorePath(config, path));
  const folder = join(config.store.path, 'tls');
  try {
    return readAll([...own, ...filesIn(folder)]);
  } catch (error) {
    const { files, missing } = readAll(own);
    return { files, missing: [...missing, `${folder}: ${reasonOf(error)}`] };
  }
}

function namedBy(config: Config): string[] {
  return KEY_LIST.filter(({ id }) => NAMES_A_FILE.test(id)).flatMap(({ id }) => {
    const value = configValue(config, id);
    return typeof value === 'string' ? [value] : [];
  });
}

function isInStorePath({ store }: Config, path: string): boolean {
  return resolve(path).startsWith(`${resolve(store.path)}${sep}`);
}

function readAll(paths: readonly string[]): FilesToKeep {
  const files: FileToKeep[] = [];
  const missing: string[] = [];
  for (const path of new Set(paths)) {
    try {
      const facts = statSync(path);
      if (!facts.isFile()) throw new Error('it is no file');
      if (facts.size > MAX_FILE_BYTES) throw new Error(`it is over ${MAX_FILE_BYTES} bytes long`);
      files.push({ path, bytes: readFileSync(path) });
    } catch (error) {
      missing.push(`${path}: ${reasonOf(error)}`);
    }
  }
  return { files, missing };
}

/** Files in a folder, not in those below it; none where there is no such folder. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(({ name }) => join(folder, name));
}
