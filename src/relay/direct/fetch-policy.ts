import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Dns } from '../../dns/dns-client.js';
import { type PublishedSts, parseStsPolicy } from '../../domain/mta-sts.js';
import type { Reach } from '../../domain/networks.js';
import { reasonOf, within } from '../../lib/async.js';

export interface FetchPolicyDeps {
  readonly dns: Dns;
  readonly reach: Reach;
  /** For tests: where the policy host listens, and the authority of its certificate. */
  readonly host?: { readonly port: number; readonly ca: string };
}

export type FetchedPolicy =
  | { readonly ok: true; readonly policy: PublishedSts }
  | { readonly ok: false; readonly reason: string };

/** RFC 8461 section 3.3 proposes both. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
/** Addresses of the policy host that are tried. */
const MAX_ADDRESSES = 4;

/**
 * Fetches the MTA-STS policy of a domain (RFC 8461 section 3.3): over HTTPS with a certificate for the policy host, from
 * an address that a name may lead to, without redirects. Never rejects.
 */
export async function fetchPolicy(
  deps: FetchPolicyDeps,
  domain: string,
  timeoutMs = TIMEOUT_MS,
): Promise<FetchedPolicy> {
  const aborter = new AbortController();
  try {
    const text = await within(timeoutMs, fetchText(deps, `mta-sts.${domain}`, aborter.signal));
    if (text === null) return { ok: false, reason: `no answer within ${timeoutMs / 1000} seconds` };
    const policy = parseStsPolicy(text);
    return policy === null ? { ok: false, reason: 'it is not a valid policy' } : { ok: true, policy };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  } finally {
    aborter.abort();
  }
}

async function fetchText({ dns, reach, host }: FetchPolicyDeps, name: string, signal: AbortSignal) {
  const answers = await Promise.all([dns.lookup(name, 'A'), dns.lookup(name, 'AAAA')]);
  const found = answers.flatMap(answer => (answer.kind === 'found' ? answer.records : []));
  const addresses = found.filter(address => reach.faultOf(address) === null).slice(0, MAX_ADDRESSES);
  if (addresses.length === 0) throw new Error(`${name} has no address that may be reached`);
  signal.throwIfAborted();
  return new Promise<string>((resolve, reject) => {
    const asked = request({
      host: name,
      port: host?.port ?? 443,
      path: '/.well-known/mta-sts.txt',
      servername: name,
      headers: { accept: 'text/plain' },
      agent: false,
      // The addresses that were checked are the ones that are connected to.
      lookup: lookupOf(addresses),
      rejectUnauthorized: true,
      signal,
      ...(host === undefined ? {} : { ca: host.ca }),
    });
    asked.on('error', reject);
    asked.on('response', response => readBody(response).then(resolve, reject));
    asked.end();
  });
}

function lookupOf(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_name, options, done) => {
    const [first] = entries;
    if (options.all === true || first === undefined) done(null, entries);
    else done(null, first.address, first.family);
  };
}

async function readBody(response: IncomingMessage): Promise<string> {
  try {
    // Any other code means that there is no policy, redirects included (section 3.3).
    if (response.statusCode !== 200) throw new Error(`its host answered ${response.statusCode}`);
    const type = response.headers['content-type'] ?? '';
    // A site where users put files of other types shall not give a policy by accident (section 3.2).
    if (!/^text\/plain[ \t]*(?:;|$)/i.test(type)) throw new Error('its host did not answer with text/plain');
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}
