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
  const place = `${ip} ${domain}`;
  const known = outcomes.get(place);
  if (known !== undefined && (await isStillSo(known, resolve))) return { result: known.result, domain };
  const questions: Asked[] = [];
  const recording: Resolve = async (name, type) => {
    const records = await boundedRecords(resolve, name, type);
    questions.push({ name, type, records: JSON.stringify(records) });
    return records;
  };
  try {
    library ??= import('mailauth/lib/spf/index.js');
    const { spf } = await library;
    const local = sender === '' ? 'postmaster' : sender.slice(0, Math.max(0, sender.lastIndexOf('@')));
    const found = await spf({
      sender: `${local || 'postmaster'}@${domain}`,
      ip,
      helo: helo.slice(0, MAX_SENDER_LENGTH),
      // For the macro `r`, which only explanations have.
      mta: 'unknown',
      resolver: recording,
    });
    const result = isResult(found.status.result) ? found.status.result : 'permerror';
    if (result === 'pass') keep(place, { result, questions });
    return { result, domain };
  } catch {
    return { result: 'permerror', domain };
  }
}

/** Loaded with the first message that is checked. */
let library: Promise<typeof import('mailauth/lib/spf/index.js')> | undefined;

interface Asked {
  readonly name: string;
  readonly type: RecordType;
  /** What was answered, as JSON. */
  readonly records: string;
}

/** What came of records that are the same for every sender of the domain: those without macros. */
interface Outcome {
  readonly result: SpfCheck['result'];
  readonly questions: readonly Asked[];
}

const MAX_OUTCOMES = 1_000;
const MAX_QUESTIONS_KEPT = 12;
const MAX_RECORDS_LENGTH = 2_000;
const outcomes = new Map<string, Outcome>();

/**
 * Remembers what came of an evaluation, which takes longer than all else that is done for an unsigned message. Only a pass
 * is kept: where anything was not found or not answered there was more than what was noted.
 */
function keep(place: string, outcome: Outcome): void {
  const { questions } = outcome;
  const isSame = questions.every(
    ({ records }) => records.length <= MAX_RECORDS_LENGTH && !records.includes('%'),
  );
  if (!isSame || questions.length > MAX_QUESTIONS_KEPT) return;
  const [oldest] = outcomes.keys();
  if (outcomes.size >= MAX_OUTCOMES && oldest !== undefined) outcomes.delete(oldest);
  outcomes.set(place, outcome);
}

/** Are all the answers as they were? */
async function isStillSo({ questions }: Outcome, resolve: Resolve): Promise<boolean> {
  try {
    for (const { name, type, records } of questions) {
      if (JSON.stringify(await resolve(name, type)) !== records) return false;
    }
    return true;
  } catch {
    return false;
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
