import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/load-config.js';
import { error, type Finding, warning, when } from './finding.js';

const ANYBODY_READS = 0o004;
const ANYBODY_WRITES = 0o022;
const ANYBODY_ELSE = 0o077;
/** Entries of a folder that are looked at. */
const MAX_ENTRIES = 2_000;

/** Who may read and write the configuration, the data and the secrets. */
export function checkFiles(config: Config, configFile: string | null): Finding[] {
  return [
    ...checkConfigFile(configFile),
    ...checkDataFolder(config.store.path),
    ...checkSecret('smtp.tls_key', config.smtp.tlsKey),
    ...checkSecret('http.tls_key', config.http.tlsKey),
    ...checkSecret('relay.smarthost.password_file', config.relay.smarthost.passwordFile),
    ...checkSecret('signup.oidc.client_secret_file', config.signup.oidc.clientSecretFile),
  ];
}

function checkConfigFile(file: string | null): Finding[] {
  const stats = file === null ? null : look(file);
  if (file === null || stats === null) return [];
  const { mode } = stats;
  return [
    ...when((mode & ANYBODY_WRITES) !== 0, () =>
      error('config_writable', {
        what: `${file} can be written by others (mode ${octal(mode)})`,
        why: 'Whoever writes it decides where mail goes and who gets in.',
        fix: `chmod go-w ${file}`,
      }),
    ),
    ...when((mode & ANYBODY_READS) !== 0, () =>
      warning('config_readable', {
        what: `${file} can be read by everybody on this machine (mode ${octal(mode)})`,
        why: 'There may be a password in it, such as that of redis.url.',
        fix: `chmod o-rwx ${file}`,
      }),
    ),
  ];
}

function checkDataFolder(path: string): Finding[] {
  const folder = look(path);
  if (folder === null) return [];
  const open = [path, join(path, 'store'), join(path, 'store/data.mdb')].filter(
    one => ((look(one)?.mode ?? 0) & ANYBODY_ELSE) !== 0,
  );
  const strange = [
    path,
    join(path, 'store'),
    join(path, 'search'),
    join(path, 'redis'),
    join(path, 'backups'),
  ]
    .flatMap(entriesOf)
    .find(one => (look(one)?.uid ?? folder.uid) !== folder.uid);
  return [
    ...when(open.length > 0, () =>
      error('data_open', {
        what: `${open.join(', ')} can be reached by others than its owner`,
        why: 'It holds the mail and the keys of everybody.',
        fix: `chmod -R go-rwx ${path}`,
      }),
    ),
    ...when(strange !== undefined, () =>
      error('data_owner', {
        what: `${strange} belongs to another user than ${path}`,
        why: 'The daemon runs as the owner of the data directory and may not be able to write that file.',
        fix: `chown -R --reference=${path} ${path}`,
      }),
    ),
  ];
}

function checkSecret(key: string, file: string | null): Finding[] {
  if (file === null) return [];
  const stats = look(file);
  if (stats === null) {
    const why = 'The daemon does not start, or cannot do what the key is for.';
    const fix = `Put it there, or change ${key} ("postern config show" tells where that is set).`;
    return [error('secret_missing', { what: `${key} names ${file}, which cannot be read`, why, fix })];
  }
  return when((stats.mode & 0o007) !== 0, () =>
    error('secret_open', {
      what: `${file} (${key}) can be reached by everybody on this machine (mode ${octal(stats.mode)})`,
      why: 'It is a secret: who has it can pretend to be this service.',
      fix: `chmod o-rwx ${file}`,
    }),
  );
}

function look(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .slice(0, MAX_ENTRIES)
      .map(name => join(folder, name));
  } catch {
    return [];
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
