import type { ParsedAddress } from '../../contract/messages.js';
import {
  type Authentication,
  type DkimCheck,
  MAX_SIGNATURES,
  type Origin,
} from '../../domain/authentication.js';
import { type ReadSignature, readSignature } from '../../domain/dkim-signatures.js';
import { type FoundRecord, readDmarcRecord } from '../../domain/dmarc.js';
import { type Author, authorOf, concludeAuthentication, type PublishedRecord } from '../../domain/verdict.js';
import { parseAddresses } from '../read/address-list.js';
import { defaultParseLimits } from '../read/limits.js';
import { type ArcChain, checkArcChain, formsNeededByChain, readArcChain } from './arc-chain.js';
import { BodyHashes } from './body-hash.js';
import { type HeaderLine, HeaderTaker, valueOfField } from './header-lines.js';
import { type Lookups, type Resolve, textsAt } from './lookups.js';
import { organisationalDomain } from './organisational-domain.js';
import { checkSignature, formNeededBy, type HashedBodies, type PendingCheck } from './signatures.js';
import { type FieldsByName, fieldsByName } from './signed-header.js';
import { checkSpf } from './spf.js';

export interface CheckOptions {
  readonly origin: Origin;
  /** For signatures that expire; milliseconds since the epoch. */
  readonly nowMs: number;
  /** Domains whose ARC chains the operator believes; lower case, A-labels. */
  readonly trustedSealers: readonly string[];
}

/** Bytes of From that are read: more is no single address. */
const MAX_FROM_LENGTH = 4_096;
/** From fields that are read; there may be one. */
const MAX_FROMS = 5;

interface ReadHeader {
  readonly fields: FieldsByName;
  readonly froms: readonly HeaderLine[];
  readonly signatures: readonly { readonly field: HeaderLine; readonly read: ReadSignature }[];
  readonly chain: ArcChain;
}

const NOTHING: ReadHeader = { fields: new Map(), froms: [], signatures: [], chain: { kind: 'none' } };

/**
 * Finds out who has written one message, while its bytes pass by: `feed` them all, then `finish`. Work and memory do not
 * grow with the number of signatures, nor memory with the length of the body.
 */
export class MessageCheck {
  readonly #options: CheckOptions;
  readonly #taker = new HeaderTaker();
  #header: ReadHeader | null = null;
  #isTooLong = false;
  #bodies = new BodyHashes([]);

  constructor(options: CheckOptions) {
    this.#options = options;
  }

  /** Takes the next bytes; the caller may use the buffer again. */
  feed(chunk: Uint8Array): void {
    const rest = this.#taker.isDone ? chunk : this.#taker.take(chunk);
    if (rest === null) return;
    if (this.#header === null) this.#readHeader();
    this.#bodies.update(Buffer.from(rest.buffer, rest.byteOffset, rest.byteLength));
  }

  /**
   * Asks the DNS and concludes. All that takes long is done before this returns; what follows the answers is bounded to
   * some milliseconds.
   * @param shown From as the content shows it; absent where the content is not read, when it is what the same reader says
   * @returns never rejects
   */
  finish(lookups: Lookups, shown?: ParsedAddress | null): Promise<Authentication> {
    const { origin, nowMs } = this.#options;
    const { fields, froms, signatures, chain } = this.#header ?? this.#readHeader();
    const bodies = this.#bodies.digest();
    const dkim = signatures.map(({ field, read }) => dkimCheckOf(read, field, fields, bodies, nowMs));
    const arc = checkArcChain(chain, fields, bodies, this.#options);
    const isTooLong = this.#isTooLong;
    const { resolve } = lookups;
    return (async () => {
      const author = isTooLong ? TOO_LONG : await authorIn(froms, shown);
      const [spf, checkedDkim, checkedArc, iprev, records] = await Promise.all([
        checkSpf(origin, resolve),
        Promise.all(dkim.map(check => check(resolve))),
        arc(resolve),
        lookups.reverse(origin.clientAddress),
        recordsFor(author, resolve),
      ]);
      const findings = { spf, dkim: checkedDkim, arc: checkedArc, iprev, records };
      return concludeAuthentication(author, findings, organisationalDomain);
    })();
  }

  #readHeader(): ReadHeader {
    const lines = this.#taker.end();
    this.#isTooLong = lines === null;
    this.#header = lines === null ? NOTHING : readHeader(lines);
    const { signatures, chain } = this.#header;
    const forms = signatures.flatMap(({ read }) =>
      read.kind === 'read' ? formNeededBy(read.signature) : [],
    );
    this.#bodies = new BodyHashes(new Set([...forms, ...formsNeededByChain(chain)]));
    return this.#header;
  }
}

function readHeader(lines: readonly HeaderLine[]): ReadHeader {
  const fields = fieldsByName(lines);
  const signatures = (fields.get('dkim-signature') ?? [])
    .slice(0, MAX_SIGNATURES)
    .map(field => ({ field, read: readSignature(valueOfField(field), 'dkim') }));
  return { fields, froms: fields.get('from') ?? [], signatures, chain: readArcChain(fields) };
}

function dkimCheckOf(
  read: ReadSignature,
  field: HeaderLine,
  fields: FieldsByName,
  bodies: HashedBodies,
  nowMs: number,
): (resolve: Resolve) => Promise<Omit<DkimCheck, 'aligned'>> {
  if (read.kind === 'faulty') {
    const { domain, selector, algorithm } = read;
    return async () => ({ domain, selector, algorithm, result: 'neutral' });
  }
  const { domain, selector, algorithm } = read.signature;
  const check: PendingCheck = checkSignature(read.signature, field, fields, bodies, nowMs);
  return async resolve => ({ domain, selector, algorithm, result: await check(resolve) });
}

const TOO_LONG: Author = { fault: 'the header is too long', claimed: null };

/** Whose address From is, by our reader and by mailauth's. */
async function authorIn(
  froms: readonly HeaderLine[],
  shown: ParsedAddress | null | undefined,
): Promise<Author> {
  if (froms.length > MAX_FROMS || froms.some(({ text }) => text.length > MAX_FROM_LENGTH)) {
    return { fault: 'From is too long', claimed: null };
  }
  const entries = froms.flatMap(field =>
    parseAddresses(valueOfField(field).replace(/\r?\n/g, ''), defaultParseLimits),
  );
  const addresses = entries
    .flatMap(entry => ('group' in entry ? entry.group : [entry]))
    .flatMap(({ address }) => (address === '' ? [] : [address]));
  const own = entries.find(entry => 'group' in entry || entry.address !== '') ?? null;
  const otherwise = (await Promise.all(froms.map(readByLibrary))).flat();
  return authorOf({ shown: shown === undefined ? own : shown, fields: froms.length, addresses, otherwise });
}

/** Loaded with the first message that is checked: it takes some 20 MB and a tenth of a second. */
let library: Promise<typeof import('mailauth/lib/dkim/dkim-verifier.js')> | undefined;

async function readByLibrary(field: HeaderLine): Promise<readonly string[]> {
  try {
    library ??= import('mailauth/lib/dkim/dkim-verifier.js');
    const { DkimVerifier } = await library;
    const verifier = new DkimVerifier({ sender: 'unused@invalid' });
    await verifier.messageHeaders({ parsed: [{ key: 'from', line: Buffer.from(field.text, 'latin1') }] });
    return verifier.headerFrom;
  } catch {
    return [];
  }
}

/** The policies for the domains in From. */
async function recordsFor(author: Author, resolve: Resolve): Promise<readonly PublishedRecord[]> {
  const domains = 'domain' in author ? [author.domain] : (author.claimed ?? []);
  return Promise.all(domains.map(async domain => ({ domain, record: await recordFor(domain, resolve) })));
}

/** The policy for a domain (RFC 7489 section 6.6.3). */
async function recordFor(domain: string, resolve: Resolve): Promise<FoundRecord> {
  const found = await recordAt(domain, false, resolve);
  const parent = organisationalDomain(domain);
  return found.kind !== 'absent' || parent === domain ? found : recordAt(parent, true, resolve);
}

async function recordAt(domain: string, isOfSubdomain: boolean, resolve: Resolve): Promise<FoundRecord> {
  const texts = await textsAt(resolve, `_dmarc.${domain}`);
  return texts === null ? { kind: 'unreachable' } : readDmarcRecord(texts, isOfSubdomain);
}
