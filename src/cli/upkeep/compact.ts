import { isAbsolute, join } from 'node:path';
import type { Command } from 'commander';
import { type CompactPlan, compact } from '../../usecases/upkeep/compact.js';
import { answer } from '../outcome.js';
import { formatBytes, renderFields } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
Deleted mail leaves free pages inside the file of the store: new mail uses them, but the disk does not get them
back. This writes the store anew without them and puts the copy in its place, in one step: whenever it is
interrupted, one whole store is there. The daemon must be stopped. It first says how much room the copy needs,
beside the store. With --to the copy becomes the store of another data directory, such as on another disk, and
the store stays as it is: set store.path to that directory, start the daemon, and remove the old one then.
`;

/** `postern compact`: gives the space of deleted mail back to the file system. */
export function addCompactCommand(program: Command, cli: Cli): void {
  program
    .command('compact')
    .description('give the space of deleted mail back to the disk; the daemon must be stopped')
    .option('--to <dir>', 'write the copy into this data directory instead, and leave the store as it is')
    .addHelpText('after', HELP)
    .action(({ to }: { readonly to?: string }) =>
      cli.change(async ({ store, clock }) => {
        const directory = to === undefined ? null : isAbsolute(to) ? to : join(cli.deps.cwd, to);
        const announce = ({ fileBytes, neededBytes, freeBytes }: CompactPlan): Promise<void> =>
          cli.deps.stderr(
            `postern: the file has ${formatBytes(fileBytes)}; a copy needs about ${formatBytes(neededBytes)} of ${formatBytes(freeBytes)} that are free\n`,
          );
        const deps = { store, clock, version: cli.deps.version };
        const { bytesBefore, bytesAfter } = await compact(deps, directory, announce);
        const document = {
          path: directory ?? store.path,
          bytes_before: bytesBefore,
          bytes_after: bytesAfter,
          freed_bytes: directory === null ? bytesBefore - bytesAfter : 0,
        };
        const shown = {
          store: document.path,
          before: formatBytes(bytesBefore),
          after: formatBytes(bytesAfter),
          ...(directory === null
            ? {}
            : { next: `set store.path to ${directory}; the old store is as it was` }),
        };
        return answer(document, renderFields(shown));
      }),
    );
}
