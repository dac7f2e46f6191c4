import { closeSync, createReadStream, openSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { reasonOf } from '../../lib/async.js';
import { splitEntries } from '../../mail/read/mbox.js';
import { BlobUploads } from '../../store/records/blob-upload.js';
import { addressOf } from '../../store/records/inboxes.js';
import { createInboundMail } from '../../usecases/inbound/accept-message.js';
import { MessageImport } from '../../usecases/inbound/import-messages.js';
import type { Box } from '../context.js';
import { inboxNamed } from '../named.js';
import { type Answer, answer, failed } from '../outcome.js';
import { printable } from '../output.js';
import { type Progress, startProgress } from '../progress.js';
import type { Cli } from '../run-command.js';

const HELP = `
A FILE is an mbox (RFC 4155), one message (.eml), or a folder of .eml files. The messages arrive now, in the order of
the files: the list of the inbox has them as its newest, and their Date stays what it is. They count for the storage
of the account; receiving rules do not apply, who has written them stays unknown, and agents are told of them as of
any mail. The daemon parses them within a minute. What the inbox has already, to the byte, is not taken twice, so an
import that was cut off can be run again. A message that cannot be taken is told, and the rest goes on. Run as root,
it opens each FILE as root, and the files of a folder as the owner of store.path.
`;

/** Faults that are told one by one; the others are counted. */
const MAX_TOLD = 20;

interface Fault {
  readonly file: string;
  /** Which message of the file, from 1. */
  readonly message: number;
  readonly reason: string;
}

/** `postern message import`: mail from elsewhere. */
export function addImportCommand(message: Command, cli: Cli): void {
  message
    .command('import')
    .description('bring mail from elsewhere into an inbox: mbox, .eml files, folders of them')
    .argument('<inbox>', 'address or id')
    .argument('<file...>', 'mbox, .eml, or a folder of .eml files')
    .addHelpText('after', HELP)
    .action(async (inbox: string, given: string[]) => {
      const files: Source[] = [];
      // Root may read more than the owner of the store does.
      const before = (): void => {
        for (const file of given) files.push(...filesAt(resolve(cli.deps.cwd, file)));
      };
      try {
        await cli.change(box => importFiles(cli, box, inbox, files), { makesStore: false, before });
      } finally {
        for (const { handle } of files) if (handle !== null) closeSync(handle);
      }
    });
}

async function importFiles(cli: Cli, box: Box, named: string, files: readonly Source[]): Promise<Answer> {
  const inbox = inboxNamed(box, named);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const { store, clock, config } = box;
  const inbound = createInboundMail({
    store,
    uploads: new BlobUploads(store),
    clock,
    // The daemon finds them in the store.
    queue: { offer: () => {} },
    mail: config.mail,
    limits: config.limits,
  });
  const { maxMessageBytes } = config.smtp;
  const work = new MessageImport({ store, inbound, maxMessageBytes }, inbox.id, addressOf(inbox));
  const progress = startProgress(cli.deps, { of: 'import', bytes, isShown: !cli.isJson() });
  const tally = new Tally();
  try {
    for (const file of files) {
      await importFile(work, file, tally, progress);
      if (tally.stopped !== null) break;
    }
  } finally {
    await progress.end();
  }
  return answerOf(tally);
}

async function importFile(
  work: MessageImport,
  file: Source,
  tally: Tally,
  progress: Progress,
): Promise<void> {
  const { path } = file;
  let number = 0;
  try {
    for await (const result of work.run(splitEntries(counted(file, progress, tally)))) {
      number += 1;
      if (result.kind === 'imported') tally.imported += 1;
      else if (result.kind === 'there') tally.there += 1;
      else if (result.kind === 'left_out')
        tally.leaveOut({ file: path, message: number, reason: result.reason });
      else tally.stopped = { file: path, message: number, reason: result.reason };
    }
  } catch (error) {
    const { syscall } = error as NodeJS.ErrnoException;
    if (syscall !== 'open' && syscall !== 'read') throw error;
    tally.leaveOut({
      file: path,
      message: number + 1,
      reason: `the file cannot be read: ${reasonOf(error)}`,
    });
  }
}

async function* counted({ path, handle }: Source, progress: Progress, tally: Tally): AsyncGenerator<Buffer> {
  const opened = handle === null ? {} : { fd: handle, autoClose: false };
  for await (const chunk of createReadStream(path, { ...opened, highWaterMark: 256 * 1024 })) {
    progress.add((chunk as Buffer).length, `${tally.imported + tally.there} messages`);
    yield chunk as Buffer;
  }
}

class Tally {
  imported = 0;
  /** They were there before. */
  there = 0;
  leftOut = 0;
  stopped: Fault | null = null;
  readonly faults: Fault[] = [];

  leaveOut(fault: Fault): void {
    this.leftOut += 1;
    if (this.faults.length < MAX_TOLD) this.faults.push(fault);
  }
}

function answerOf({ imported, there, leftOut, stopped, faults }: Tally): Answer {
  const document = { imported, already_there: there, left_out: leftOut, faults };
  const told = faults.map(faultLine).join('');
  const more = leftOut > faults.length ? `... and ${leftOut - faults.length} more\n` : '';
  const sum = `${imported} imported, ${there} there already, ${leftOut} left out`;
  if (stopped === null) return answer(document, `${told}${more}${sum}\n`);
  throw failed(
    'import_stopped',
    `${told}${more}${sum}; stopped: ${faultLine(stopped)}What was imported is not taken twice.`,
    { ...document, stopped },
  );
}

function faultLine({ file, message, reason }: Fault): string {
  return `${printable(file)}, message ${message}: ${printable(reason)}\n`;
}

/** A file that mail is read from. */
interface Source {
  readonly path: string;
  readonly bytes: number;
  /** Of a file that was named itself; null when it is opened in its turn. */
  readonly handle: number | null;
}

function filesAt(path: string): Source[] {
  try {
    const facts = statSync(path);
    if (!facts.isDirectory()) return [{ path, bytes: facts.size, handle: openSync(path, 'r') }];
    const names = readdirSync(path).filter(name => name.toLowerCase().endsWith('.eml'));
    return names.sort().map(name => {
      const file = join(path, name);
      return { path: file, bytes: statSync(file).size, handle: null };
    });
  } catch (error) {
    throw failed(
      'usage',
      `${path} cannot be read: ${reasonOf(error)}. Name a file or a folder that the user who runs this may read.`,
    );
  }
}
