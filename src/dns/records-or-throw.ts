import type { Dns } from './dns-client.js';
import type { DnsRecords } from './packet.js';

/** Records in the form of `dns.promises.resolve` of Node, which libraries take. */
interface NodeRecords {
  A: string;
  AAAA: string;
  MX: { readonly priority: number; readonly exchange: string };
  PTR: string;
  TXT: string[];
}

const toNode: { readonly [Type in keyof NodeRecords]: (record: DnsRecords[Type]) => NodeRecords[Type] } = {
  A: address => address,
  AAAA: address => address,
  MX: ({ preference, exchange }) => ({ priority: preference, exchange }),
  PTR: name => name,
  TXT: text => [text],
};

/**
 * The records of a name as Node gives them, never none.
 * @throws Error with `code`: `ENOTFOUND` (no such name), `ENODATA` (no such records), `ETIMEOUT` (not found out)
 */
export async function recordsOrThrow<Type extends keyof NodeRecords>(
  dns: Dns,
  name: string,
  type: Type,
): Promise<NodeRecords[Type][]> {
  const answer = await dns.lookup(name, type);
  if (answer.kind === 'found') return answer.records.map(toNode[type]);
  const code = CODES[answer.kind];
  throw Object.assign(new Error(`${code} ${type}`), { code });
}

const CODES = { none: 'ENODATA', no_name: 'ENOTFOUND', failed: 'ETIMEOUT' } as const;
