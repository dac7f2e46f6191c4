import type { Test } from 'tap';
import { type MessageId, newId } from '../../../../src/domain/ids.js';
import { DirectDeliverer } from '../../../../src/relay/direct/deliver.js';
import { type DirectOptions, directDefaults } from '../../../../src/relay/direct/options.js';
import type { PaceOptions } from '../../../../src/relay/direct/pace.js';
import type { MailHost, Route } from '../../../../src/relay/direct/route.js';
import type { DeliveryJob, DeliveryOutcome } from '../../../../src/usecases/ports.js';
import { recordingLog } from '../../../support/redis/redis.js';
import { type FakeSmarthost, startFakeSmarthost } from '../../../support/smarthost/fake-smarthost.js';
import type { Script, SmarthostSettings } from '../../../support/smarthost/smarthost-script.js';

export const CONTENT = 'Subject: hello\r\n\r\nHello,\r\n.\r\n..dots\r\n.end\r\n';
export const ONE = 'one@elsewhere.example';
export const TWO = 'two@elsewhere.example';

export type JobChanges = Partial<Omit<DeliveryJob, 'content'>> & { content?: string | Buffer };

export function job({ content = CONTENT, ...changes }: JobChanges = {}): DeliveryJob {
  return {
    id: newId<MessageId>(Date.now()),
    domain: 'elsewhere.example',
    from: 'agent@example.org',
    recipients: [ONE],
    content: Buffer.from(content as string),
    beforeDot: async () => true,
    ...changes,
  };
}

/** A mail server of the route, and what it does otherwise than a good one. */
export interface HostSetup extends SmarthostSettings {
  readonly script?: Script;
}

export interface Hosts {
  /** One for each that was asked for, all on the same port. */
  readonly servers: readonly FakeSmarthost[];
  readonly port: number;
}

/** Mail servers at 127.0.0.1, 127.0.0.2, ... or where they say, on one port; stopped after the test. */
export async function startHosts(t: Test, setups: readonly HostSetup[]): Promise<Hosts> {
  const servers: FakeSmarthost[] = [];
  for (const [at, { script = {}, ...settings }] of setups.entries()) {
    const address = settings.address ?? `127.0.0.${at + 1}`;
    const port = servers[0]?.port ?? 0;
    const server = await startFakeSmarthost(script, { ...settings, address, port });
    t.teardown(() => server.stop());
    servers.push(server);
  }
  return { servers, port: servers[0]!.port };
}

export function host(name: string, ...addresses: readonly string[]): MailHost {
  const family = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);
  return {
    name,
    preference: 10,
    addresses: addresses.map(address => ({ address, family: family(address) })),
    dane: null,
  };
}

export function routeTo(...hosts: readonly MailHost[]): Extract<Route, { kind: 'hosts' }> {
  return { kind: 'hosts', hosts, tls: 'opportunistic' };
}

/** A deliverer that knows these routes, by domain; closed after the test. */
export function delivererTo(
  t: Test,
  port: number,
  routes: Route | ((domain: string) => Route),
  options: Partial<DirectOptions> = {},
  pace: Partial<PaceOptions> = {},
): DirectDeliverer {
  const deliverer = new DirectDeliverer({
    options: {
      ...directDefaults,
      quitMs: 200,
      hostname: 'mx.example.org',
      port,
      mayConnect: () => true,
      ...options,
    },
    routes: { find: async domain => (typeof routes === 'function' ? routes(domain) : routes) },
    log: recordingLog(),
    pace,
  });
  t.teardown(() => deliverer.close(0));
  return deliverer;
}

export interface OneHost {
  readonly server: FakeSmarthost;
  readonly deliverer: DirectDeliverer;
}

/** One mail server, `mx.elsewhere.example`, for every domain. */
export async function withOneHost(
  t: Test,
  setup: HostSetup = {},
  options: Partial<DirectOptions> = {},
): Promise<OneHost> {
  const { servers, port } = await startHosts(t, [setup]);
  const route = routeTo(host('mx.elsewhere.example', '127.0.0.1'));
  return { server: servers[0]!, deliverer: delivererTo(t, port, route, options) };
}

export async function deliverOne(
  deliverer: DirectDeliverer,
  changes: JobChanges = {},
): Promise<DeliveryOutcome> {
  const [outcome] = await deliverer.deliver(job(changes));
  return outcome!;
}

/** MAIL, RCPT, DATA and RSET that a server has got on a connection, in order. */
export function verbs(server: FakeSmarthost, session = 0): readonly string[] {
  return (server.sessions[session]?.lines ?? []).map(line => line.split(/[ :]/)[0] ?? '');
}
