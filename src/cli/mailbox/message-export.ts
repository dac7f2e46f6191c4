import { createWriteStream, mkdirSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { Refusal } from '../../domain/errors.js';
import { reasonOf } from '../../lib/async.js';
import { mboxEntry } from '../../mail/write/mbox.js';
import { getCounters } from '../../store/mailbox/folders.js';
import type { ReceivedRecord } from '../../store/mailbox/messages.js';
import { BlobMissingError } from '../../store/records/blobs.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import { receivedOf } from '../../usecases/mailbox/export-messages.js';
import { getMessageDetail, openRawMessage } from '../../usecases/mailbox/read-message.js';
import { ADMIN } from '../../usecases/shared/callers.js';
import type { Box } from '../context.js';
import { inboxNamed } from '../named.js';
import { type Answer, answer, bytesAnswer, failed } from '../outcome.js';
import { printable, withLineEnd } from '../output.js';
import { type Progress, startProgress } from '../progress.js';
import type { Cli } from '../run-command.js';

const HELP = `
mbox: one file (RFC 4155), lines that begin with "From " quoted with ">", so that "message import" gives every
message back to the byte. eml: a file for each message in the folder that --output names, as it was received. json: a
line for each message, as "message show --json" has it. It has the live mail that the inbox has received, oldest
first; mail that arrives or goes meanwhile may be in it or not. A file gets its name when it is complete.
`;

interface ExportOptions {
  readonly format: 'mbox' | 'eml' | 'json';
  readonly output?: string;
}

/** `postern message export`: the mail of an inbox, to be kept elsewhere. */
export function addExportCommand(message: Command, cli: Cli): void {
  message
    .command('export')
    .description('write the mail of an inbox as mbox, .eml files or JSON lines, to stdout or --output')
    .argument('<inbox>', 'address or id')
    .addOption(new Option('--format <format>', 'how').choices(['mbox', 'eml', 'json']).default('mbox'))
    .option('--output <path>', 'file, or the folder of eml files; without it stdout')
    .addHelpText('after', HELP)
    .action((inbox: string, options: ExportOptions) =>
      cli.read(box => exportInbox(cli, box, inboxNamed(box, inbox), options)),
    );
}

async function exportInbox(
  cli: Cli,
  box: Box,
  inbox: InboxRecord,
  { format, output }: ExportOptions,
): Promise<Answer> {
  if (format === 'eml' && output === undefined) {
    throw failed('usage', 'eml files need a folder: name it with --output.');
  }
  const bytes = box.store.read(reader => getCounters(reader, { inboxId: inbox.id, kind: 'received' }).bytes);
  const progress = startProgress(cli.deps, { of: 'export', bytes, isShown: !cli.isJson() });
  const tally = { exported: 0, damaged: 0 };
  if (output === undefined) return bytesAnswer(wiped(allOf(box, inbox, format, tally, progress), progress));
  const path = resolve(cli.deps.cwd, output);
  try {
    if (format === 'eml') await writeFiles(box, inbox, path, tally, progress);
    else await writeWhole(path, allOf(box, inbox, format, tally, progress));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw failed(
      'output_failed',
      `${path} cannot be written: ${reasonOf(error)}. Nothing was changed in the inbox.`,
    );
  } finally {
    await progress.end();
  }
  const { exported, damaged } = tally;
  return answer(
    { exported, damaged, output: path },
    `${exported} exported to ${printable(path)}${damaged === 0 ? '' : `, ${damaged} left out: their bytes cannot be read ("postern verify")`}\n`,
  );
}

interface Counts {
  exported: number;
  damaged: number;
}

async function* wiped(bytes: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } finally {
    await progress.end();
  }
}

async function* allOf(
  box: Box,
  inbox: InboxRecord,
  format: 'mbox' | 'eml' | 'json',
  tally: Counts,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const record of receivedOf(box.store, inbox.id)) {
    const bytes = opened(box, record, format);
    if (bytes === null) {
      tally.damaged += 1;
      continue;
    }
    yield* bytes;
    tally.exported += 1;
    progress.add(record.raw.size, `${tally.exported} messages`);
  }
}

/** Null when its bytes are missing, or it was deleted meanwhile. */
function opened(
  box: Box,
  record: ReceivedRecord,
  format: 'mbox' | 'eml' | 'json',
): AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null {
  const input = { ...ADMIN, messageId: record.id, kind: 'received' } as const;
  try {
    if (format === 'json')
      return withLineEnd(getMessageDetail(box, { ...input, hasAuthentication: true }).bytes);
    const { bytes } = openRawMessage(box, input);
    if (format === 'eml') return bytes;
    return mboxEntry({ sender: record.envelopeFrom, receivedAt: record.receivedAt }, bytes);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function writeFiles(
  box: Box,
  inbox: InboxRecord,
  folder: string,
  tally: Counts,
  progress: Progress,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for await (const record of receivedOf(box.store, inbox.id)) {
    const bytes = opened(box, record, 'eml');
    // In the order of the mail, and the same at every export.
    const name = `${String(record.seq).padStart(9, '0')}-${record.id}.eml`;
    if (bytes === null || !(await writeUnlessDamaged(join(folder, name), bytes))) {
      tally.damaged += 1;
      continue;
    }
    tally.exported += 1;
    progress.add(record.raw.size, `${tally.exported} messages`);
  }
}

async function writeUnlessDamaged(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<boolean> {
  try {
    await writeWhole(path, bytes);
    return true;
  } catch (error) {
    if (error instanceof BlobMissingError) return false;
    throw error;
  }
}

/** Under another name until it is complete and on disk; for its owner alone. */
async function writeWhole(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const draft = join(dirname(path), `.postern-export-${process.pid}`);
  try {
    await pipeline(Readable.from(bytes), createWriteStream(draft, { flags: 'w', mode: 0o600 }));
    const file = await open(draft, 'r+');
    await file.sync();
    await file.close();
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
