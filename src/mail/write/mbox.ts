import { type Line, Lines, quotesBefore } from '../lines.js';

const QUOTE = Buffer.from('>');
const LF = Buffer.from('\n');

/**
 * A message as an entry of an mbox (RFC 4155): its separator, its lines with LF, and an empty line. Lines that begin with
 * `From `, or with that behind any number of `>`, get one `>` more, which `splitEntries` takes away again (mboxrd).
 */
export async function* mboxEntry(
  { sender, receivedAt }: { readonly sender: string; readonly receivedAt: number },
  raw: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const isAddress = /^[\x21-\x7e]+@[\x21-\x7e]+$/.test(sender);
  yield Buffer.from(`From ${isAddress ? sender : 'MAILER-DAEMON'} ${asctime(receivedAt)}\n`, 'ascii');
  const lines = new Lines();
  for await (const part of raw) {
    const written = [...lines.take(part)].flatMap(quoted);
    if (written.length > 0) yield Buffer.concat(written);
  }
  yield Buffer.concat([...[...lines.end()].flatMap(quoted), LF]);
}

function quoted({ bytes, isStart, isEnd }: Line): Buffer[] {
  const needsQuote = isStart && quotesBefore(bytes) !== null;
  return [...(needsQuote ? [QUOTE] : []), bytes, ...(isEnd ? [LF] : [])];
}

/** `Sun Nov 29 16:53:20 2026`, in UTC, as asctime(3) writes it (RFC 4155 appendix A). */
function asctime(instantMs: number): string {
  const [, day, date, month, year, time] =
    /^(\w+), (\d+) (\w+) (\d+) ([\d:]+)/.exec(new Date(instantMs).toUTCString()) ?? [];
  return `${day} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`;
}
