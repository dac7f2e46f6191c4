import { connect, isIP, isIPv6 } from 'node:net';
import type { OutgoingTrial, Outside } from '../cli/dependencies.js';
import type { Config } from '../config/load-config.js';
import { type Dns, DnsClient } from '../dns/dns-client.js';
import { Reach } from '../domain/networks.js';
import { HttpHookCaller } from '../hooks/http-hook-caller.js';
import { codeOrReasonOf } from '../lib/async.js';
import { lookAtRedis } from '../queue/redis/external-redis.js';
import { DirectRoutes } from '../relay/direct/find-route.js';
import { listenPlaces, SOMEWHERE, sourceTowards } from '../relay/direct/own-addresses.js';
import type { HookCall, HookOutcome } from '../usecases/webhooks/hook-call.js';
import { urlRules } from '../usecases/webhooks/webhooks.js';
import { packageVersion } from './version.js';

const CONNECT_MS = 10_000;
/** Addresses that are tried before the port is called closed: a server may be down, three seldom are. */
const MAX_TRIES = 3;
const MAX_GREETING = 512;

/** For `postern dns`, `postern doctor` and `postern webhook test`. */
export const outside: Outside = { addresses, tryOutgoing, callHook, greetingOf, lookAtRedis };

async function addresses({ relay, smtp }: Config): Promise<readonly string[]> {
  const { sourceAddress } = relay.direct;
  const listens = isIP(smtp.host) === 0 || isWildcard(smtp.host) ? [] : [smtp.host];
  // Behind a router or a proxy these are addresses that nobody else can reach.
  const reach = new Reach(relay.direct.allowNetworks);
  const named = [...sourceAddress, ...listens].filter(address => reach.faultOf(address) === null);
  const chosen = await Promise.all([SOMEWHERE.ipv4, SOMEWHERE.ipv6].map(sourceTowards));
  const isPublic = (address: string) => new Reach([]).faultOf(address) === null;
  // The system chooses for a family that the configuration does not name; behind a router it knows none.
  const free = chosen.filter(
    address => address !== null && isPublic(address) && !named.some(one => isIPv6(one) === isIPv6(address)),
  );
  return [...new Set([...named, ...free.flatMap(address => address ?? [])])];
}

async function callHook(config: Config, call: HookCall): Promise<HookOutcome> {
  const dns = new DnsClient(config.dns);
  const caller = new HttpHookCaller({ dns, reach: urlRules(config).reach, version: packageVersion() });
  try {
    return await caller.call(call);
  } finally {
    await caller.close(0);
    dns.close();
  }
}

function isWildcard(address: string): boolean {
  return address === '::' || address === '0.0.0.0';
}

const NO_POLICIES = { policyOf: () => Promise.resolve(null), keptFor: () => null };

async function tryOutgoing({ mail, smtp, relay }: Config, dns: Dns, domain: string): Promise<OutgoingTrial> {
  const { direct } = relay;
  const reach = new Reach(direct.allowNetworks);
  const routes = new DirectRoutes({
    ...direct,
    dns,
    reach,
    policies: NO_POLICIES,
    hostname: mail.hostname,
    listens: () => listenPlaces(smtp),
  });
  const route = await routes.find(domain);
  if (route.kind !== 'hosts') return { status: 'unknown', detail: route.detail };
  const places = route.hosts.flatMap(({ name, addresses }) =>
    addresses.map(({ address }) => ({ name, address })),
  );
  const failures: string[] = [];
  for (const { name, address } of places.slice(0, MAX_TRIES)) {
    const source = direct.sourceAddress.find(one => isIPv6(one) === isIPv6(address));
    const greeted = await greetingOf(address, direct.port, source);
    if (greeted.ok) {
      return { status: 'open', detail: `${name} (${address}) at port ${direct.port}: ${greeted.text}` };
    }
    failures.push(`${name} (${address}) at port ${direct.port}: ${greeted.text}`);
  }
  return { status: 'closed', detail: failures.join('; ') };
}

/** The first line that a server says; nothing is said to it. */
function greetingOf(
  address: string,
  port: number,
  source?: string | undefined,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  return new Promise(resolve => {
    const socket = connect({
      host: address,
      port,
      ...(source === undefined ? {} : { localAddress: source }),
    });
    let heard = '';
    const end = (ok: boolean, text: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ ok, text });
    };
    const timer = setTimeout(
      () => end(false, socket.pending ? 'no connection in time' : 'connected, but no greeting in time'),
      CONNECT_MS,
    );
    socket.on('error', error => end(false, codeOrReasonOf(error)));
    socket.on('close', () => end(false, 'closed without a greeting'));
    socket.on('data', chunk => {
      heard = (heard + chunk.toString('latin1')).slice(0, MAX_GREETING);
      const [line = ''] = heard.split(/\r?\n/);
      if (line === heard && heard.length < MAX_GREETING) return;
      end(/^\d{3}(?:[ -]|$)/.test(line), line);
    });
  });
}
