import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import packet from 'dns-packet';

/** Records of a name by type. `NAME` is absolute, in any letter case, without a final dot. */
export interface ZoneEntry {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
  readonly MX?: readonly (readonly [preference: number, exchange: string])[];
  readonly PTR?: readonly string[];
  /** A string longer than 255 characters becomes several. */
  readonly TXT?: readonly string[];
  readonly TLSA?: readonly {
    readonly usage: number;
    readonly selector: number;
    readonly matchingType: number;
    readonly data: Uint8Array;
  }[];
  readonly CNAME?: string;
  /** Answers about this name carry the AD bit, as if they had been validated. */
  readonly isSigned?: boolean;
  /** Seconds; 0, so that a changed zone is seen at once. */
  readonly ttl?: number;
  /** Misbehaviour for every type, or for one. */
  readonly fault?: Fault | Readonly<Record<string, Fault>>;
}

export type Zones = Readonly<Record<string, ZoneEntry>>;

export type Fault =
  | 'servfail'
  | 'refused'
  /** Says nothing. */
  | 'silent'
  /** Over UDP the reply does not fit; over TCP it is whole. */
  | 'truncate'
  /** As `truncate`, and over TCP nothing comes. */
  | 'truncate_silent'
  /** A forged reply with another id, or to another question, and then the right one. */
  | 'forged_id'
  | 'forged_question'
  /** Only such a reply. */
  | 'another_question'
  /** Bytes that are no DNS, behind the right id. */
  | 'garbage';

export interface AskedQuestion {
  readonly name: string;
  readonly type: string;
  readonly transport: 'udp' | 'tcp';
}

interface Reply {
  readonly flags: number;
  readonly rcode: number;
  readonly answers: readonly object[];
  readonly authorities: readonly object[];
}

const RCODE = { ok: 0, servfail: 2, noName: 3, refused: 5 } as const;

/**
 * A DNS server on loopback, UDP and TCP on one port, which plays resolver and zones at once:
 *
 *     const dns = await startDnsServer(t, { 'example.com': { MX: [[10, 'mx.example.com']] } });
 *     ... `[dns] servers = ["${dns.address}"]`
 */
export class DnsServer {
  /** Every question in the order in which they came. */
  readonly asked: AskedQuestion[] = [];
  readonly #zones = new Map<string, ZoneEntry>();
  readonly #udp: UdpSocket;
  readonly #tcp: Server;
  readonly #sockets = new Set<Socket>();

  constructor(zones: Zones, udp: UdpSocket, tcp: Server) {
    for (const [name, entry] of Object.entries(zones)) this.set(name, entry);
    this.#udp = udp;
    this.#tcp = tcp;
    udp.on('message', (query, peer) => {
      for (const reply of this.#repliesTo(query, 'udp')) udp.send(reply, peer.port, peer.address);
    });
    tcp.on('connection', socket => this.#serve(socket));
  }

  /** `127.0.0.1:port`, as `[dns] servers` takes it. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  get port(): number {
    return this.#udp.address().port;
  }

  /** Replaces all records of a name. */
  set(name: string, entry: ZoneEntry): void {
    this.#zones.set(name.toLowerCase(), entry);
  }

  remove(name: string): void {
    this.#zones.delete(name.toLowerCase());
  }

  /** How often a name was asked for, of one type or of all. */
  timesAsked(name: string, type?: string): number {
    return this.asked.filter(one => one.name === name && (type === undefined || one.type === type)).length;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#tcp, 'close');
    this.#tcp.close();
    this.#udp.close();
    await closed;
  }

  #serve(socket: Socket): void {
    let received = Buffer.alloc(0);
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      for (const reply of this.#repliesTo(received.subarray(2), 'tcp')) {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(reply.length);
        socket.write(Buffer.concat([length, reply]));
      }
      received = Buffer.alloc(0);
    });
  }

  #repliesTo(query: Buffer, transport: 'udp' | 'tcp'): Buffer[] {
    const asked = packet.decode(query);
    const [question] = asked.questions ?? [];
    if (question === undefined) return [];
    const name = question.name.toLowerCase();
    this.asked.push({ name, type: question.type, transport });
    const wantsAd = ((asked.flags ?? 0) & packet.AUTHENTIC_DATA) !== 0;
    const reply = this.#answer(name, question.type, wantsAd);
    const right = encode(asked.id ?? 0, question, reply);
    switch (this.#faultOf(name, question.type)) {
      case 'silent':
        return [];
      case 'truncate_silent':
        return transport === 'udp' ? [cut(asked.id ?? 0, question)] : [];
      case 'truncate':
        return transport === 'udp' ? [cut(asked.id ?? 0, question)] : [right];
      case 'forged_id':
        return [encode(((asked.id ?? 0) + 1) % 0x10000, question, forgery(name)), right];
      case 'forged_question':
        return [encode(asked.id ?? 0, { ...question, name: `not.${name}` }, forgery(`not.${name}`)), right];
      case 'another_question':
        return [encode(asked.id ?? 0, { ...question, name: `not.${name}` }, reply)];
      case 'garbage':
        return [Buffer.concat([right.subarray(0, 12), Buffer.alloc(40, 0xff)])];
      default:
        return transport === 'udp' && right.length > room(asked) ? [cut(asked.id ?? 0, question)] : [right];
    }
  }

  #faultOf(name: string, type: string): Fault | undefined {
    const fault = this.#zones.get(name)?.fault;
    return typeof fault === 'object' ? fault[type] : fault;
  }

  #answer(name: string, type: string, wantsAd: boolean): Reply {
    const fault = this.#faultOf(name, type);
    if (fault === 'servfail' || fault === 'refused') {
      return { flags: 0, rcode: RCODE[fault], answers: [], authorities: [] };
    }
    const answers: object[] = [];
    let place = name;
    let isSigned = true;
    for (let aliases = 0; aliases < 20; aliases++) {
      const entry = this.#zones.get(place);
      isSigned = isSigned && entry?.isSigned === true;
      if (entry?.CNAME === undefined || type === 'CNAME') break;
      answers.push({ name: place, type: 'CNAME', ttl: entry.ttl ?? 0, data: entry.CNAME });
      place = entry.CNAME.toLowerCase();
    }
    const flags = isSigned && wantsAd ? packet.AUTHENTIC_DATA : 0;
    const entry = this.#zones.get(place);
    const found = entry === undefined ? [] : recordsOf(place, entry, type);
    const isName = [...this.#zones.keys()].some(known => known === place || known.endsWith(`.${place}`));
    const rcode = isName ? RCODE.ok : RCODE.noName;
    const authorities = found.length > 0 ? [] : [soaFor(place, entry?.ttl ?? 0)];
    return { flags, rcode, answers: [...answers, ...found], authorities };
  }
}

/** A test, or whatever else says when it is over. */
interface Owner {
  teardown(close: () => Promise<void>): void;
}

/** Zones of domains whose servers say nothing, not even about their DMARC policies. */
export function silentZones(domains: readonly string[]): Zones {
  const names = domains.flatMap(domain => [domain, `_dmarc.${domain}`]);
  return Object.fromEntries(names.map(name => [name, { fault: 'silent' } as const]));
}

/** A server for the zones, closed after the test. */
export async function startDnsServer(t: Owner, zones: Zones = {}): Promise<DnsServer> {
  for (;;) {
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const tcp = createServer();
    tcp.listen(udp.address().port, '127.0.0.1');
    const isListening = await once(tcp, 'listening').then(
      () => true,
      () => false,
    );
    if (!isListening) {
      // Another process has that port for TCP.
      udp.close();
      continue;
    }
    const server = new DnsServer(zones, udp, tcp);
    t.teardown(() => server.close());
    return server;
  }
}

function recordsOf(name: string, entry: ZoneEntry, type: string): object[] {
  const datas: Readonly<Record<string, readonly unknown[] | undefined>> = {
    A: entry.A,
    AAAA: entry.AAAA,
    MX: entry.MX?.map(([preference, exchange]) => ({ preference, exchange: exchange || '.' })),
    PTR: entry.PTR,
    TXT: entry.TXT?.map(text => text.match(/[\s\S]{1,255}/g) ?? ['']),
    TLSA: entry.TLSA?.map(({ data, ...rest }) => ({ ...rest, certificate: Buffer.from(data) })),
  };
  return (datas[type] ?? []).map(data => ({ name, type, ttl: entry.ttl ?? 0, data }));
}

function soaFor(name: string, minimum: number): object {
  const data = {
    mname: 'ns.test',
    rname: 'hostmaster.test',
    serial: 1,
    refresh: 60,
    retry: 60,
    expire: 60,
    minimum,
  };
  return { name, type: 'SOA', ttl: minimum, data };
}

type Question = NonNullable<packet.Packet['questions']>[number];

function encode(id: number, question: Question, reply: Reply): Buffer {
  const { flags, rcode, answers, authorities } = reply;
  return packet.encode({
    type: 'response',
    id,
    flags: packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | flags | rcode,
    questions: [question],
    answers: answers as packet.Answer[],
    authorities: authorities as packet.Answer[],
  });
}

function cut(id: number, question: Question): Buffer {
  return encode(id, question, {
    flags: packet.TRUNCATED_RESPONSE,
    rcode: RCODE.ok,
    answers: [],
    authorities: [],
  });
}

function forgery(name: string): Reply {
  const answers = [
    { name, type: 'A', ttl: 600, data: '6.6.6.6' },
    { name, type: 'MX', ttl: 600, data: { preference: 1, exchange: 'forged.test' } },
  ];
  return { flags: packet.AUTHENTIC_DATA, rcode: RCODE.ok, answers, authorities: [] };
}

/** What the client takes over UDP (RFC 6891 section 6.2.3). */
function room(query: packet.Packet): number {
  const option = query.additionals?.find(record => record.type === 'OPT');
  return option?.type === 'OPT' ? option.udpPayloadSize : 512;
}
