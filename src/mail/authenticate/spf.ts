import { isIP } from 'node:net';
import { normaliseDomain } from '../../domain/addresses.js';
import type { Origin, SpfCheck } from '../../domain/authentication.js';
import type { RecordType, Resolve, ResolvedRecords } from './lookups.js';

/** Whose servers the client is asked to be one of (RFC 7208 section 2.4), without whether it is aligned. */
export type SpfFinding = Omit<SpfCheck, 'aligned'>;

/** Longest record that is read. What is longer does not fit in the DNS by UDP (RFC 7208 section 3.4). */
const MAX_RECORD_LENGTH = 4_096;
/** Each macro may become as long as an address, and each name that comes of them is looked at. */
const MAX_MACROS = 40;
const MAX_SENDER_LENGTH = 320;

/** Results as mailauth words them, which are those of RFC 7208 section 2.6. */
const RESULTS: readonly string[] = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'temperror',
  'permerror',
] satisfies SpfCheck['result'][];

function isResult(text: string): text is SpfCheck['result'] {
  return RESULTS.includes(text);
}

/**
 * Asks whether the client may send for the domain of the envelope sender, or of the HELO name when that is empty. Bounds:
 * ten look-ups and two that find nothing, both kept by mailauth (RFC 7208 section 4.6.4), and the length of a record.
 * Never rejects.
 */
export async function checkSpf(
  { clientAddress, helo, sender }: Origin,
  resolve: Resolve,
): Promise<SpfFinding> {
  const ip = clientAddress.replace(/%.*$/, '');
  const written = sender === '' ? helo : sender.slice(sender.lastIndexOf('@') + 1);
  const domain = normaliseDomain(written.replace(/\.$/, ''));
  if (domain === null || domain.length > 253 || sender.length > MAX_SENDER_LENGTH || isIP(ip) === 0) {
    return { result: 'none', domain: null };
  }
  try {
    const { spf } = await import('mailauth/lib/spf/index.js');
    const local = sender === '' ? 'postmaster' : sender.slice(0, Math.max(0, sender.lastIndexOf('@')));
    const found = await spf({
      sender: `${local || 'postmaster'}@${domain}`,
      ip,
      helo: helo.slice(0, MAX_SENDER_LENGTH),
      // For the macro `r`, which only explanations have.
      mta: 'unknown',
      resolver: (name, type) => boundedRecords(resolve, name, type),
    });
    const { result } = found.status;
    return { result: isResult(result) ? result : 'permerror', domain };
  } catch {
    return { result: 'permerror', domain };
  }
}

/** The records as they are, unless one is too long to be worked on. */
async function boundedRecords<Type extends RecordType>(
  resolve: Resolve,
  name: string,
  type: Type,
): Promise<ResolvedRecords[Type][]> {
  const records = await resolve(name, type);
  const tooLong = records.some(record => Array.isArray(record) && !isWorkable(record.join('')));
  if (tooLong)
    throw Object.assign(new Error('the record is too long'), { spfResult: { error: 'permerror' } });
  return records;
}

function isWorkable(text: string): boolean {
  if (!/^v=spf1(?: |$)/i.test(text)) return true;
  return text.length <= MAX_RECORD_LENGTH && text.split('%').length <= MAX_MACROS + 1;
}
