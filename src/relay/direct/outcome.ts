import { saysNoSuchAddress } from '../../domain/delivery-reports.js';
import type { DeliveryOutcome } from '../../usecases/ports.js';
import { describeReply, type ServerReply } from '../session/reply.js';
import { sendingLimitOf } from '../session/sending-limits.js';
import type { SessionFailure } from '../session/session-failure.js';

/** How an attempt ended, but for the recipient. */
export type Ending = Omit<DeliveryOutcome, 'recipient'>;

/** The server that an ending tells of. */
export interface Peer {
  readonly host: string | null;
  readonly tls: string | null;
}

export const NO_PEER: Peer = { host: null, tls: null };

const MAX_REPLY = 500;
/** "Cryptographic failure" (RFC 3463 section 3.8). */
const TLS_FAILED = '4.7.5';
/** A server that does not like our IPv6 address: its name, or its being unknown (RFC 7372 section 3.3). */
const IPV6_CODES = ['5.7.1', '5.7.25'];

/** An ending that a reply has brought. `later` has a code of class 4 even if the reply was 5yz. */
export function endingOfReply(state: Ending['state'], reply: ServerReply, peer: Peer): Ending {
  const isThrottled = reply.code < 500 && (reply.code === 421 || (reply.code >= 400 && isAboutRate(reply)));
  const code = codeOf(state, reply);
  const words = printableAscii(describeReply(reply));
  return { state, ...peer, code, reply: words, ...(isThrottled ? { isThrottled } : {}) };
}

/**
 * A refusal of MAIL for good. It speaks of the sender: a code of no such address, which some servers give, would say of
 * the recipients that they are not there, and keep later mail from them.
 */
export function endingOfRefusedMail(reply: ServerReply, peer: Peer): Ending {
  const refused = endingOfReply('failed', reply, peer);
  return saysNoSuchAddress(refused.code ?? '') ? { ...refused, code: OTHER_ADDRESS_STATUS } : refused;
}

/** RFC 3463 section 3.2. */
const OTHER_ADDRESS_STATUS = '5.1.0';

/** An ending without a reply. */
export function ending(state: Ending['state'], code: string, words: string, peer: Peer = NO_PEER): Ending {
  return { state, ...peer, code, reply: printableAscii(words) };
}

/** No session could be set up: the next address or host is tried, then it is for later. */
export function endingOfFailure({ kind, detail, step, reply }: SessionFailure, host: string): Ending {
  if (reply !== null && kind === 'refused') {
    const refused = endingOfReply('later', reply, { host, tls: null });
    return step === 'STARTTLS' ? { ...refused, code: TLS_FAILED } : refused;
  }
  const peer = step === null ? NO_PEER : { host, tls: null };
  switch (kind) {
    case 'tls':
      return ending('later', TLS_FAILED, detail, { host, tls: null });
    case 'busy':
      return ending('later', '4.4.5', detail);
    case 'stopped':
      return ending('later', '4.3.2', detail);
    case 'lost':
      return ending('later', '4.4.2', detail, { host, tls: null });
    case 'timeout':
      return ending('later', step === null ? '4.4.1' : '4.4.2', detail, peer);
    default:
      return ending('later', '4.4.1', detail, peer);
  }
}

/** Is it a refusal for good that the same host may not repeat over IPv4? */
export function isAboutIpv6(reply: ServerReply): boolean {
  return reply.code >= 500 && reply.enhanced !== null && IPV6_CODES.includes(reply.enhanced);
}

function isAboutRate(reply: ServerReply): boolean {
  return sendingLimitOf(reply) !== null;
}

function codeOf(state: Ending['state'], { enhanced }: ServerReply): string {
  const wanted = { delivered: '2', failed: '5', later: '4', unknown: '4' }[state];
  return enhanced === null ? `${wanted}.0.0` : `${wanted}${enhanced.slice(1)}`;
}

/** One line of at most 500 printable ASCII characters. */
function printableAscii(text: string): string {
  const line = text.replace(/[^\x20-\x7e]+/g, '?');
  return line.length > MAX_REPLY ? `${line.slice(0, MAX_REPLY - 3)}...` : line;
}
