import { DAY_MS } from '../../domain/instants.js';
import type { LastBackup } from '../../store/engine/meta.js';
import type { BoxStatus } from '../../usecases/upkeep/read-status.js';
import { formatDuration } from '../output.js';
import { error, type Finding, warning, when } from './finding.js';

const PARSE_LATE_S = 300;
const SEND_LATE_S = 600;
const BACKUP_OLD_DAYS = 2;

/** What waits, and for how long. */
export function checkWork({ pending, webhooks, search }: BoxStatus): Finding[] {
  const parseAge = pending.oldest_age_s ?? 0;
  const sendAge = pending.oldest_send_age_s ?? 0;
  return [
    ...when(parseAge > PARSE_LATE_S, () =>
      error('parsing_waits', {
        what: `${pending.messages} messages wait to be parsed, the oldest for ${formatDuration(parseAge)}`,
        why: 'Agents do not see mail before it is parsed.',
        fix: 'See that the daemon and its Redis run (systemctl status postern); journalctl -u postern -p warning',
      }),
    ),
    ...when(sendAge > SEND_LATE_S, () =>
      error('sends_wait', {
        what: `${pending.sends} sends wait, the oldest for ${formatDuration(sendAge)}`,
        why: 'What has not gone out within a day is held, and somebody has to let it go.',
        fix: 'postern queue status',
      }),
    ),
    ...when(pending.held_sends > 0, () =>
      warning('sends_held', {
        what: `${pending.held_sends} sends are held`,
        why: 'They never go out by themselves.',
        fix: 'postern queue status; then postern queue retry ID',
      }),
    ),
    ...when(webhooks.ended > 0, () =>
      warning('webhooks_ended', {
        what: `${webhooks.ended} webhooks were disabled because their endpoint is gone or dead`,
        why: 'Their agents are told of nothing.',
        fix: 'postern webhook list',
      }),
    ),
    ...when(search.rebuilding.length > 0, () =>
      warning('search_rebuilds', {
        what: `the search index of ${search.rebuilding.length} accounts is being made anew`,
        why: 'Their searches answer 503 until it is complete.',
        fix: 'postern search status',
      }),
    ),
  ];
}

/** @param last the last backup that ended well, as the store knows it */
export function checkBackup(last: LastBackup | undefined, nowMs: number): Finding[] {
  const fix = 'postern backup DIR; systemctl enable --now postern-backup.timer makes one each day';
  const why = 'A disk that fails, or a command that was wrong, takes all mail with it.';
  if (last === undefined) return [warning('no_backup', { what: 'no backup was ever made', why, fix })];
  const days = Math.floor((nowMs - last.snapshotAt) / DAY_MS);
  return when(days >= BACKUP_OLD_DAYS, () =>
    warning('backup_old', { what: `the last backup is ${days} days old`, why, fix }),
  );
}
