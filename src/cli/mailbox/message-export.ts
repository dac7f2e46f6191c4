import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { Refusal } from '../../domain/errors.js';
import { reasonOf } from '../../lib/async.js';
import { mboxEntry } from '../../mail/write/mbox.js';
import { getCounters } from '../../store/mailbox/folders.js';
import type { ReceivedRecord } from '../../store/mailbox/messages.js';
import { flush } from '../../store/private-files.js';
import { BlobMissingError } from '../../store/records/blobs.js';
import type { InboxRecord } from '../../store/records/inboxes.js';
import { receivedOf } from '../../usecases/mailbox/export-messages.js';
import { getMessageDetail, openRawMessage } from '../../usecases/mailbox/read-message.js';
import { ADMIN } from '../../usecases/shared/callers.js';
import type { Box } from '../context.js';
import type { CliDependencies } from '../dependencies.js';
import { inboxNamed } from '../named.js';
import { type Answer, answer, type ByteSource, bytesAnswer, failed } from '../outcome.js';
import { printable, withLineEnd } from '../output.js';
import { type Progress, startProgress } from '../progress.js';
import type { Cli } from '../run-command.js';

const HELP = `
mbox: one file (RFC 4155), lines that begin with "From " quoted with ">", so that "message import" gives every
message back to the byte. eml: a file for each message in the folder that --output names, as it was received. json: a
line for each message, as "message show --json" has it. It has the live mail that the inbox has received, oldest
first; mail that arrives or goes meanwhile may be in it or not. A file gets its name when it is complete.
`;

type Format = 'mbox' | 'eml' | 'json';

interface ExportOptions {
  readonly format: Format;
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

interface Export {
  readonly box: Box;
  readonly inbox: InboxRecord;
  readonly format: Format;
  readonly progress: Progress;
  readonly tally: { exported: number; damaged: number };
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
  // On a terminal the bar would be drawn into the mail.
  const isShown = !cli.isJson() && (output !== undefined || !cli.deps.terminals.stdout);
  const progress = startProgress(cli.deps, { of: 'export', bytes, isShown });
  const work: Export = { box, inbox, format, progress, tally: { exported: 0, damaged: 0 } };
  if (output === undefined) return bytesAnswer(toStdout(cli.deps, work));
  const path = resolve(cli.deps.cwd, output);
  try {
    if (format === 'eml') await writeFiles(path, work);
    else await writeWhole(path, allOf(work));
    // The names, too.
    flush(format === 'eml' ? path : dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw failed(
      'output_failed',
      `${path} cannot be written: ${reasonOf(error)}. Nothing was changed in the inbox.`,
    );
  } finally {
    await progress.end();
  }
  const { exported, damaged } = work.tally;
  const left = damaged === 0 ? '' : `, ${leftOut(damaged)}`;
  return answer({ exported, damaged, output: path }, `${exported} exported to ${printable(path)}${left}\n`);
}

function leftOut(damaged: number): string {
  return `${damaged} left out: their bytes cannot be read ("postern verify")`;
}

async function* toStdout(
  { stderr }: Pick<CliDependencies, 'stderr'>,
  work: Export,
): AsyncGenerator<Uint8Array> {
  try {
    yield* allOf(work);
  } finally {
    await work.progress.end();
  }
  const { damaged } = work.tally;
  if (damaged > 0) await stderr(`postern: ${leftOut(damaged)}\n`);
}

async function* allOf(work: Export): AsyncGenerator<Uint8Array> {
  for await (const { parts } of messagesOf(work)) yield* parts;
}

/** A message as it is written, whole. */
interface Written {
  readonly record: ReceivedRecord;
  readonly parts: readonly Uint8Array[];
}

/** The messages one by one; what is damaged is counted and left out. */
async function* messagesOf({ box, inbox, format, progress, tally }: Export): AsyncGenerator<Written> {
  for await (const record of receivedOf(box.store, inbox.id)) {
    const found = await read(box, record, format);
    if (found === 'gone') continue;
    if (found === 'damaged') {
      tally.damaged += 1;
      continue;
    }
    yield { record, parts: found };
    tally.exported += 1;
    progress.add(record.raw.size, `${tally.exported} messages`);
  }
}

/**
 * One message is in memory whole before any of it goes out: where its last bytes are missing, nothing of it is written.
 * `gone`: it was deleted meanwhile.
 */
async function read(
  box: Box,
  record: ReceivedRecord,
  format: Format,
): Promise<readonly Uint8Array[] | 'gone' | 'damaged'> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of opened(box, record, format)) parts.push(part);
    return parts;
  } catch (error) {
    if (error instanceof BlobMissingError) return 'damaged';
    if (!(error instanceof Refusal)) throw error;
    return error.failure.code === 'not_found' ? 'gone' : 'damaged';
  }
}

/** @throws not_found, content_unavailable, BlobMissingError while it is read */
function opened(box: Box, record: ReceivedRecord, format: Format): ByteSource {
  const input = { ...ADMIN, messageId: record.id, kind: 'received' } as const;
  if (format === 'json')
    return withLineEnd(getMessageDetail(box, { ...input, hasAuthentication: true }).bytes);
  const { bytes } = openRawMessage(box, input);
  if (format === 'eml') return bytes;
  return mboxEntry({ sender: record.envelopeFrom, receivedAt: record.receivedAt }, bytes);
}

async function writeFiles(folder: string, work: Export): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for await (const { record, parts } of messagesOf(work)) {
    // In the order of the mail, and the same at every export.
    const name = `${String(record.seq).padStart(9, '0')}-${record.id}.eml`;
    await writeWhole(join(folder, name), parts);
  }
}

/** Under a name that nobody can foresee until it is complete and on disk; for its owner alone. */
async function writeWhole(path: string, bytes: ByteSource): Promise<void> {
  const draft = join(dirname(path), `.postern-export-${randomBytes(12).toString('hex')}`);
  try {
    await pipeline(Readable.from(bytes), createWriteStream(draft, { flags: 'wx', mode: 0o600 }));
    flush(draft);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
