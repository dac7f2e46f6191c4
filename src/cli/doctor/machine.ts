import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '../../config/layers.js';
import type { Config } from '../../config/load-config.js';
import { DAY_MS } from '../../domain/instants.js';
import type { BoxStatus } from '../../usecases/upkeep/read-status.js';
import { formatBytes } from '../output.js';
import { clockLine } from '../upkeep/clock.js';
import { error, type Finding, warning, when } from './finding.js';

/** When the releases of Node end (https://github.com/nodejs/release#release-schedule). */
const NODE_ENDS: Readonly<Record<number, string>> = {
  18: '2025-04-30',
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
};
const NODE_SOON_DAYS = 60;

/** Is this Node still looked after? One that is newer than the table is taken for right. */
export function checkNode(version: string, nowMs: number): Finding[] {
  const major = Number(/^v?(\d+)/.exec(version)?.[1]);
  const end = NODE_ENDS[major];
  const isOdd = major % 2 === 1 && major < Math.max(...Object.keys(NODE_ENDS).map(Number));
  const endsAt = end === undefined ? null : Date.parse(end);
  const fix = 'Install the newest even-numbered Node (24), and restart the daemon.';
  const why = 'Faults of its TLS, HTTP and JavaScript engine that become known are not mended any more.';
  if (isOdd || (endsAt !== null && endsAt <= nowMs)) {
    const since = end === undefined ? 'no longer' : `not since ${end}`;
    return [warning('node_ended', { what: `Node ${version} is ${since} looked after`, why, fix })];
  }
  return when(endsAt !== null && endsAt - nowMs < NODE_SOON_DAYS * DAY_MS, () =>
    warning('node_ends', { what: `Node ${version} is looked after until ${end} only`, why, fix }),
  );
}

export function checkClock({ clock }: BoxStatus): Finding[] {
  return when(!clock.is_confirmed, () =>
    error('clock_in_doubt', {
      what: `the clock of the machine is in doubt: ${clockLine(clock)}`,
      why: 'Until it is confirmed nothing is erased, forgotten or given up for being old.',
      fix: 'postern clock accept (once the clock is right)',
    }),
  );
}

/** Asks what sets the clock, where systemd tells. */
export async function checkTimeSource(env: Environment): Promise<Finding[]> {
  const said = await ask(env, 'timedatectl', ['show', '--property=NTPSynchronized', '--value']);
  return when(said?.trim() === 'no', () =>
    warning('clock_unsynchronised', {
      what: 'the clock of the machine is not synchronised',
      why: 'Signatures (DKIM), certificates and links have a time, which others hold against theirs.',
      fix: 'timedatectl set-ntp true',
    }),
  );
}

const UNIT = 'postern.service';

/**
 * How systemd has the unit, where there is systemd and it knows one.
 * @param neededBytes what the daemon may take of memory
 */
export async function checkUnit(env: Environment, neededBytes: number): Promise<Finding[]> {
  const names = [
    'LoadState',
    'UnitFileState',
    'ActiveState',
    'NeedDaemonReload',
    'NRestarts',
    'Type',
    'MemoryHigh',
  ];
  const said = await ask(env, 'systemctl', ['show', UNIT, `--property=${names.join(',')}`]);
  const facts = new Map(
    (said ?? '').split('\n').map(line => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)] as const;
    }),
  );
  if (facts.get('LoadState') !== 'loaded') return [];
  const is = (name: string, value: string): boolean => facts.get(name) === value;
  // "infinity" is no number, and no limit.
  const memory = Number(facts.get('MemoryHigh'));
  return [
    ...when(is('ActiveState', 'failed'), () =>
      error('unit_failed', {
        what: `${UNIT} has failed and stays down`,
        why: 'No mail is taken.',
        fix: `journalctl -u postern -n 50; then systemctl reset-failed postern && systemctl start postern`,
      }),
    ),
    ...when(is('UnitFileState', 'disabled'), () =>
      warning('unit_disabled', {
        what: `${UNIT} is not started with the machine`,
        why: 'After the next start of the machine no mail is taken.',
        fix: 'systemctl enable postern',
      }),
    ),
    ...when(is('NeedDaemonReload', 'yes'), () =>
      warning('unit_changed', {
        what: `the file of ${UNIT} was changed, and systemd goes by the old one`,
        why: 'What was changed in it, such as limits, is not in force.',
        fix: 'systemctl daemon-reload && systemctl restart postern',
      }),
    ),
    ...when(Number(facts.get('NRestarts')) > 0, () =>
      warning('unit_restarts', {
        what: `${UNIT} was started again ${facts.get('NRestarts')} times because it had ended by itself`,
        why: 'Something ends it: a fault, the limit of memory, or a store that does not answer.',
        fix: 'journalctl -u postern -p warning',
      }),
    ),
    ...when(memory < neededBytes, () =>
      warning('unit_memory', {
        what: `${UNIT} may take ${formatBytes(memory)} of memory, and this configuration may need ${formatBytes(neededBytes)}`,
        why: 'Under load the daemon is slowed down or killed.',
        fix: 'Run bin/install again, which makes the limits anew, or lower what "postern config check" counts.',
      }),
    ),
    ...when(facts.has('Type') && !is('Type', 'notify'), () =>
      warning('unit_old', {
        what: `${UNIT} is of Type=${facts.get('Type')}, not notify`,
        why: 'systemd cannot tell a daemon that hangs from one that works.',
        fix: 'Install the unit of this version (bin/install), then systemctl daemon-reload && systemctl restart postern',
      }),
    ),
  ];
}

/** Below this part of the map, or of the disk but no more than so much, it is time to do something. */
const LITTLE = 0.1;
const ENOUGH_DISK_BYTES = 5 * 2 ** 30;

export function checkRoom(config: Config, { store }: BoxStatus, disk: { readonly size: number }): Finding[] {
  const mapBytes = config.store.mapSizeGib * 2 ** 30;
  const floorBytes = config.store.diskFloorMib * 2 ** 20;
  const free = formatBytes(store.disk_free_bytes);
  const isDiskLow =
    store.disk_free_bytes < Math.max(2 * floorBytes, Math.min(LITTLE * disk.size, ENOUGH_DISK_BYTES));
  return [
    ...when(!store.has_room, () =>
      error('no_room', {
        what: `there is no room for new mail: ${free} free on the disk, ${formatBytes(store.map_free_bytes)} in the map`,
        why: 'Mail is refused for the time being, and senders give up after some days.',
        fix: 'Make room on the disk that store.path lies on, or raise store.map_size_gib ("postern status" shows which).',
      }),
    ),
    ...when(store.has_room && isDiskLow, () =>
      warning('disk_low', {
        what: `the disk that ${config.store.path} lies on has ${free} left`,
        why: `At ${formatBytes(floorBytes)} (store.disk_floor_mib) mail is refused for the time being.`,
        fix: `du -xh --max-depth=2 ${config.store.path}; make room, or give back what deleted mail left with "postern compact"`,
      }),
    ),
    ...when(store.map_free_bytes < LITTLE * mapBytes, () =>
      warning('map_low', {
        what: `the map of the store has ${formatBytes(store.map_free_bytes)} of ${formatBytes(mapBytes)} left`,
        why: 'Near its end mail is refused for the time being, whatever the disk has free.',
        fix: 'Raise store.map_size_gib (address space, not disk space), then restart the daemon.',
      }),
    ),
  ];
}

/** What a program of the system says; null when it is not there, fails or takes long. */
function ask(env: Environment, program: string, args: readonly string[]): Promise<string | null> {
  const file = findProgram(env, program);
  if (file === null) return Promise.resolve(null);
  return new Promise(resolve => {
    const options = { timeout: 5_000, env: { PATH: pathOf(env), LC_ALL: 'C' } };
    execFile(file, [...args], options, (failure, stdout) => resolve(failure === null ? stdout : null));
  });
}

export function findProgram(env: Environment, program: string): string | null {
  for (const folder of pathOf(env).split(delimiter)) {
    try {
      const file = join(folder, program);
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not there.
    }
  }
  return null;
}

function pathOf(env: Environment): string {
  return env.PATH ?? '/usr/local/bin:/usr/bin:/bin';
}
