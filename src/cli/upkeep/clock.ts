import type { Command } from 'commander';
import { acceptClock, type ClockView, viewClock } from '../../usecases/upkeep/watch-clock.js';
import { type Answer, answer } from '../outcome.js';
import { formatDuration, renderFields } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
The clock of the machine is held against the time since it was started, and at a start against the last
instant in the store. After a jump nothing is erased from Trash, forgotten or given up for being old, until
the clock goes back to where it should be, runs on for a day without another jump, or is accepted here.
`;

/** `postern clock`: can the clock of the machine be relied on? Works with and without a daemon. */
export function addClockCommands(program: Command, cli: Cli): void {
  const clock = program.command('clock').description('whether the clock of the machine is relied on');
  clock
    .command('show')
    .description('show whether the clock has jumped')
    .addHelpText('after', HELP)
    .action(() => cli.read(({ store }) => answerOf(viewClock({ store, read: cli.deps.readClock }))));
  clock
    .command('accept')
    .description('confirm that the clock is right as it is')
    .addHelpText('after', HELP)
    .action(() =>
      cli.change(async ({ store }) => answerOf(await acceptClock({ store, read: cli.deps.readClock }))),
    );
}

function answerOf(view: ClockView): Answer {
  const { now, last_confirmed_at } = view;
  return answer(view, renderFields({ now, clock: clockLine(view), last_confirmed_at }));
}

/** One line about the clock, and what to do when it is in doubt. */
export function clockLine({ is_confirmed, in_doubt_since, moved_s, confirmed_in_s }: ClockView): string {
  if (is_confirmed) return 'confirmed';
  const moved = `${formatDuration(Math.abs(moved_s ?? 0))} ${(moved_s ?? 0) < 0 ? 'back' : 'forward'}`;
  return (
    `IN DOUBT since ${in_doubt_since}, when it was moved ${moved}: nothing is erased or forgotten for being old. ` +
    `If it is wrong, set it right; if it is right, run "postern clock accept". ` +
    `It counts as right after another ${formatDuration(confirmed_in_s ?? 0)} without a jump`
  );
}
