import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Deliveries, Delivery } from '../../../src/contract/deliveries.js';
import type { TestAgent } from '../box/agents.js';
import { type PosternBox, startBox } from '../box/postern-box.js';
import type { DnsServer } from '../dns/dns-server.js';

export interface DirectBoxOptions {
  /** Port of the mail servers of other domains, all of them on loopback. */
  readonly port: number;
  readonly dns: DnsServer;
  readonly env?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
}

/** A box that delivers to the mail servers of other domains itself. */
export function startDirectBox(t: Test, { port, dns, env, dataDir }: DirectBoxOptions): Promise<PosternBox> {
  return startBox(t, {
    ...(dataDir === undefined ? {} : { dataDir }),
    env: {
      POSTERN_RELAY_TRANSPORT: 'direct',
      POSTERN_RELAY_DIRECT_PORT: String(port),
      POSTERN_RELAY_DIRECT_ALLOW_NETWORKS: '127.0.0.0/8',
      POSTERN_RELAY_DIRECT_IPV6: 'off',
      POSTERN_DNS_SERVERS: dns.address,
      ...env,
    },
  });
}

/** The deliveries of a sent message, once this holds of them. */
export async function deliveriesWhen(
  agent: TestAgent,
  sentId: string,
  isSo: (deliveries: readonly Delivery[]) => boolean,
): Promise<readonly Delivery[]> {
  for (;;) {
    const { deliveries } = (await agent.api.get(`/v1/sent/${sentId}/deliveries`)).json<Deliveries>();
    if (isSo(deliveries)) return deliveries;
    await delay(50);
  }
}

/** The deliveries of a sent message, once all of them have ended. */
export function endedDeliveries(agent: TestAgent, sentId: string): Promise<readonly Delivery[]> {
  return deliveriesWhen(agent, sentId, all =>
    all.every(({ state }) => state !== 'queued' && state !== 'sending'),
  );
}
