import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Config } from '../../config/load-config.js';
import { isLoopback } from '../../domain/addresses.js';
import { inNetworks } from '../../domain/networks.js';
import { codeOrReasonOf } from '../../lib/async.js';
import { isWrong, type RecordCheck } from '../../usecases/dns/check-zone.js';
import type { BoxStatus } from '../../usecases/upkeep/read-status.js';
import type { CliDependencies, OutgoingTrial, Outside, RedisView } from '../dependencies.js';
import { error, type Finding, warning, when } from './finding.js';
import { findProgram } from './machine.js';

const HTTP_MS = 10_000;
const MAX_ANSWER = 64 * 1024;

/** Does the daemon run, and do its listeners answer as it? */
export async function checkListeners(
  outside: Outside,
  config: Config,
  { daemon }: BoxStatus,
): Promise<Finding[]> {
  if (daemon === null) {
    return [
      error('daemon_down', {
        what: 'no daemon serves the store',
        why: 'No mail is taken, parsed or sent.',
        fix: 'systemctl start postern (or "postern serve")',
      }),
    ];
  }
  const greeted = await outside.greetingOf(reachable(config.smtp.host), config.smtp.port);
  const isUs = greeted.text.split(' ')[1]?.toLowerCase() === config.mail.hostname.toLowerCase();
  const scheme = config.http.tls === 'off' ? 'http' : 'https';
  const here = `${bracketed(reachable(config.http.host))}:${config.http.port}`;
  // Its certificate is for another name than this address, and is looked at elsewhere.
  const http = await get(`${scheme}://${here}/readyz`, { rejectUnauthorized: false });
  return [
    ...when(!greeted.ok, () =>
      error('smtp_silent', {
        what: `nobody greets at port ${config.smtp.port} of this machine: ${greeted.text}`,
        why: 'No mail can arrive.',
        fix: `ss -ltnp 'sport = :${config.smtp.port}' shows who has the port; then systemctl restart postern`,
      }),
    ),
    ...when(greeted.ok && !isUs, () =>
      error('smtp_other', {
        what: `port ${config.smtp.port} greets as another server: ${greeted.text}`,
        why: 'Mail goes to that server, or the daemon runs with another mail.hostname.',
        fix: `ss -ltnp 'sport = :${config.smtp.port}'; end the other server, or restart the daemon after a change of mail.hostname`,
      }),
    ),
    ...when(http.status !== 200, () =>
      error('not_ready', {
        what: `/readyz answers ${http.status ?? http.reason}`,
        why: 'The store, the disk, Redis or parsing does not work, or the HTTP listener is not there.',
        fix: 'journalctl -u postern -p warning -n 50',
      }),
    ),
  ];
}

/** Is the public URL ours, and are the addresses of clients told? */
export async function checkProxy(config: Config, { daemon }: BoxStatus): Promise<Finding[]> {
  const { publicUrl } = config.service;
  const { trustedProxies, host } = config.http;
  const isPublic = !isLoopback(new URL(publicUrl).hostname);
  const isWide = trustedProxies.some(network => /\/[0-7]$/.test(network));
  const trustsThisMachine = inNetworks(trustedProxies)('127.0.0.1') || inNetworks(trustedProxies)('::1');
  const found = daemon === null ? null : await get(`${publicUrl}/healthz`);
  return [
    ...when(found !== null && found.status !== 200, () =>
      error('public_url', {
        what: `${publicUrl}/healthz answers ${found?.status ?? found?.reason}`,
        why: 'Agents and humans reach the service by this address, and links are built on it.',
        fix: 'See to the reverse proxy and to its certificate, or set service.public_url to the address that leads here.',
      }),
    ),
    ...when(isWide, () =>
      error('proxies_wide', {
        what: `http.trusted_proxies has a network as wide as ${trustedProxies.find(one => /\/[0-7]$/.test(one))}`,
        why: 'Whoever is in it can claim any address, and pass every limit by address.',
        fix: 'Name the addresses of your reverse proxies alone in http.trusted_proxies.',
      }),
    ),
    ...when(isPublic && isLoopback(host) && !trustsThisMachine, () =>
      warning('proxy_untrusted', {
        what: 'the HTTP listener is reached through a proxy on this machine, which http.trusted_proxies does not name',
        why: 'All clients count as one: a few who are too busy shut out everybody.',
        fix: 'Set http.trusted_proxies to ["127.0.0.1", "::1"], let the proxy set X-Forwarded-For, then restart the daemon.',
      }),
    ),
  ];
}

/** Each record that is not right, whether mail can leave, and whether there are keys to sign with. */
export function checkDns(look: {
  readonly checks: readonly RecordCheck[];
  readonly outgoing: OutgoingTrial | null;
  readonly keyless: readonly string[];
}): Finding[] {
  const { checks, outgoing, keyless } = look;
  const failed = checks.filter(({ status }) => status === 'failed');
  const wrong = checks.filter(({ status }) => status === 'missing' || status === 'different');
  const [first] = failed;
  return [
    ...when(first !== undefined, () =>
      error('dns_fails', {
        what: `${failed.length} names cannot be looked up, ${first?.record.name} among them: ${first?.note}`,
        why: 'Mail cannot be sent, and who has written mail is not found out.',
        fix: 'See to the resolvers (dns.servers, else /etc/resolv.conf), then postern dns check',
      }),
    ),
    ...wrong.map(check => {
      const { record, status, found } = check;
      const words = {
        what: `${record.name} ${record.type} (${record.kind}) is ${status}${found.length === 0 ? '' : `: ${found.join(' | ')}`}`,
        why: WHY_RECORD[record.kind],
        fix: `Publish: ${record.name}. ${record.type} ${record.value} ("postern dns" prints it for a zone)`,
      };
      return isWrong(check) ? error(`dns_${record.kind}`, words) : warning(`dns_${record.kind}`, words);
    }),
    ...keyless.map(domain =>
      error('no_dkim_key', {
        what: `there is no DKIM key for ${domain}`,
        why: 'Its mail is not signed, and large receivers refuse it.',
        fix: `postern dkim rotate ${domain}`,
      }),
    ),
    ...when(outgoing?.status === 'closed', () =>
      error('outgoing_closed', {
        what: `outgoing port 25 is closed: ${outgoing?.detail}`,
        why: 'No mail reaches other mail servers.',
        fix: 'Ask the provider of this machine to open it, or send through a smarthost (relay.transport = "smarthost").',
      }),
    ),
  ];
}

const WHY_RECORD: Readonly<Record<RecordCheck['record']['kind'], string>> = {
  mx: 'Mail for the domain does not come here.',
  address: 'The name of this server does not lead to it.',
  ptr: 'Large receivers refuse mail from an address without a name.',
  spf: 'Receivers cannot tell that mail from here is from the domain, and refuse it.',
  helo_spf: 'Reports of mail that was not delivered are refused by some receivers.',
  dkim: 'Receivers cannot check the signature, and refuse mail.',
  dmarc: 'Others can write in the name of the domain, and large receivers want it.',
  tls_reporting: 'Nobody tells you when mail cannot be sent to you for its certificate.',
};

/** @param view null where the daemon runs its own */
export function checkRedis({ env }: CliDependencies, view: RedisView | null): Finding[] {
  if (view === null) {
    return when(findProgram(env, 'redis-server') === null, () =>
      error('redis_missing', {
        what: 'there is no redis-server in PATH, and redis.mode is "managed"',
        why: 'The daemon does not start.',
        fix: 'apt-get install redis-server',
      }),
    );
  }
  if (view.status !== 'known') {
    const why = 'Accepted mail is parsed late, and nothing is sent.';
    const fix = 'See that it runs, and that redis.url has the right address and password.';
    return [
      error('redis_away', { what: `the Redis of redis.url does not serve us: ${view.reason}`, why, fix }),
    ];
  }
  return [
    ...when(view.policy !== null && view.policy !== 'noeviction', () =>
      error('redis_evicts', {
        what: `Redis has maxmemory-policy ${view.policy}`,
        why: 'When its memory is full it drops queued work. The daemon does not start with it.',
        fix: 'redis-cli CONFIG SET maxmemory-policy noeviction && redis-cli CONFIG REWRITE',
      }),
    ),
    ...when(view.hasFailedToSave, () =>
      error('redis_cannot_save', {
        what: 'Redis could not write to its disk',
        why: 'By default it takes no new work until it can again.',
        fix: 'Make room on its disk (redis-cli CONFIG GET dir), then redis-cli BGSAVE',
      }),
    ),
    ...when(view.isTooOld, () =>
      error('redis_old', {
        what: `Redis is of version ${view.version}`,
        why: 'The queues need 6.2 at least. The daemon does not start with it.',
        fix: 'Install a newer one.',
      }),
    ),
  ];
}

/** Where a listener on every address is reached on this machine. */
function reachable(host: string): string {
  return host === '::' ? '::1' : host === '0.0.0.0' ? '127.0.0.1' : host;
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The status of a GET; never rejects. The answer itself is not looked at. */
function get(
  url: string,
  tls: { readonly rejectUnauthorized?: boolean } = {},
): Promise<{ readonly status: number | null; readonly reason: string }> {
  return new Promise(resolve => {
    const begin = url.startsWith('https:') ? httpsRequest : httpRequest;
    const sent = begin(url, { timeout: HTTP_MS, agent: false, ...tls }, response => {
      let read = 0;
      response.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read > MAX_ANSWER) response.destroy();
      });
      response.once('close', () => resolve({ status: response.statusCode ?? null, reason: '' }));
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.once('error', reason => resolve({ status: null, reason: codeOrReasonOf(reason) }));
    sent.end();
  });
}
