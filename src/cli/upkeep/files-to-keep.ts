import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KEY_LIST } from '../../config/key-list.js';
import { configValue } from '../../config/load-config.js';
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
 * passwords; and the certificate that an authority has issued, with its keys. To be read before the process gives up the rights of root.
 */
export function filesToKeep({ env }: Pick<CliDependencies, 'env'>, { config, file }: Loaded): FilesToKeep {
  const named = KEY_LIST.filter(({ id }) => NAMES_A_FILE.test(id)).flatMap(({ id }) => {
    const value = configValue(config, id);
    return typeof value === 'string' ? [value] : [];
  });
  const files: FileToKeep[] = [];
  const missing: string[] = [];
  const issued = filesIn(join(config.store.path, 'tls'));
  for (const path of new Set([...(file === null ? [] : [file]), ...named, ...issued])) {
    try {
      if (statSync(path).size > MAX_FILE_BYTES) throw new Error(`it is over ${MAX_FILE_BYTES} bytes long`);
      files.push({ path, bytes: readFileSync(path) });
    } catch (error) {
      missing.push(`${path}: ${reasonOf(error)}`);
    }
  }
  const settings = Object.entries(env).filter(([name]) => name.startsWith('POSTERN_'));
  if (settings.length > 0) {
    const lines = settings.map(([name, value]) => `${name}=${value ?? ''}\n`);
    files.push({ path: 'environment', bytes: Buffer.from(lines.sort().join('')) });
  }
  return { files, missing };
}

/** Files in a folder, not in those below it; none where there is no such folder. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(({ name }) => join(folder, name));
}
