import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { codeOrReasonOf } from '../lib/async.js';
import { type DnsType, isCut, isReplyTo, questionFor, type Reply, readReply } from './packet.js';
import type { DnsServer } from './servers.js';

export type Exchanged =
  | { readonly kind: 'reply'; readonly reply: Reply; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** What came of one message: nothing that concerns us (null), or the end of the exchange. */
type Heard = Exchanged | { readonly kind: 'cut' } | null;

interface Talk {
  readonly server: DnsServer;
  readonly query: Buffer;
  readonly hear: (bytes: Buffer) => Heard;
  readonly signal: AbortSignal;
}

/**
 * Asks one server one question, over UDP and, where the reply does not fit, over TCP (RFC 7766 section 5). Never
 * rejects; leaves no socket and no timer.
 * @param timeoutMs for both together
 * @param signal ends it early
 */
export async function exchange(
  server: DnsServer,
  question: { readonly name: string; readonly type: DnsType },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Exchanged> {
  const { name, type } = question;
  // Forgers must guess the id and the port, which the system picks at random for each socket (RFC 5452).
  const id = randomInt(0x10000);
  const hear = (bytes: Buffer): Heard => {
    if (!isReplyTo(id, bytes)) return null;
    if (isCut(bytes)) return { kind: 'cut' };
    try {
      const reply = readReply(bytes, name, type);
      return reply === null ? null : { kind: 'reply', reply, bytes: bytes.length };
    } catch {
      return failed('the reply cannot be read');
    }
  };
  const talk = { server, query: questionFor(id, name, type), hear, signal };
  const endsAt = performance.now() + timeoutMs;
  const heard = await overUdp(talk, timeoutMs);
  const ended = heard.kind === 'cut' ? await overTcp(talk, endsAt - performance.now()) : heard;
  return ended.kind === 'cut' ? failed('the reply is cut off') : ended;
}

function failed(reason: string): Exchanged {
  return { kind: 'failed', reason };
}

type Ended = NonNullable<Heard>;

/** Runs until `end` is called, the time is up or the signal comes; then `close` is called, once. */
function untilEnd(
  { signal }: Talk,
  timeoutMs: number,
  start: (end: (ended: Ended) => void) => () => void,
): Promise<Ended> {
  return new Promise(resolve => {
    let isOver = false;
    const end = (ended: Ended): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      close();
      resolve(ended);
    };
    const abort = (): void => end(failed('the look-up was ended'));
    const timer = setTimeout(() => end(failed('no answer in time')), Math.max(0, timeoutMs));
    const close = start(end);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
  });
}

function overUdp(talk: Talk, timeoutMs: number): Promise<Ended> {
  return untilEnd(talk, timeoutMs, end => {
    const { address, port } = talk.server;
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    socket.on('error', error => end(failed(codeOrReasonOf(error))));
    // Connected: the kernel drops what others send, and tells when nobody listens there.
    socket.once('connect', () => socket.send(talk.query));
    socket.on('message', bytes => {
      const heard = talk.hear(bytes);
      if (heard !== null) end(heard);
    });
    socket.connect(port, address);
    return () => socket.close();
  });
}

function overTcp(talk: Talk, timeoutMs: number): Promise<Ended> {
  return untilEnd(talk, timeoutMs, end => {
    const { address, port } = talk.server;
    const socket = connect({ host: address, port });
    let received = Buffer.alloc(0);
    socket.on('error', error => end(failed(codeOrReasonOf(error))));
    socket.on('close', () => end(failed('the connection was closed')));
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2) return;
      const length = received.readUInt16BE(0);
      if (received.length < 2 + length) return;
      end(talk.hear(received.subarray(2, 2 + length)) ?? failed('the reply is to another question'));
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(talk.query.length);
    socket.write(Buffer.concat([length, talk.query]));
    return () => socket.destroy();
  });
}
