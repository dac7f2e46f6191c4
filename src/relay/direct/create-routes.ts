import type { Config } from '../../config/load-config.js';
import type { Dns } from '../../dns/dns-client.js';
import { Reach } from '../../domain/networks.js';
import type { Clock, Logger } from '../../usecases/ports.js';
import { type FetchPolicyDeps, fetchPolicy } from './fetch-policy.js';
import { DirectRoutes } from './find-route.js';
import type { ListenPlace } from './own-addresses.js';
import type { RouteFinder } from './route.js';
import { StsPolicies, type StsPolicyShelf } from './sts-policies.js';

export interface CreateRoutesOptions {
  readonly config: Pick<Config, 'mail' | 'relay'>;
  readonly dns: Dns;
  /** Where MTA-STS policies are kept. */
  readonly shelf: StsPolicyShelf;
  /** Every place where mail is taken now. */
  readonly listens: () => readonly ListenPlace[];
  readonly clock: Clock;
  readonly log: Logger;
  /** For tests. */
  readonly policyHost?: NonNullable<FetchPolicyDeps['host']>;
}

/** The route finder that the configuration asks for. */
export function createRoutes(options: CreateRoutesOptions): RouteFinder {
  const { config, dns, shelf, listens, clock, log, policyHost } = options;
  const { direct } = config.relay;
  const reach = new Reach(direct.allowNetworks);
  const fetchDeps = { dns, reach, ...(policyHost === undefined ? {} : { host: policyHost }) };
  const fetch = (domain: string) => fetchPolicy(fetchDeps, domain);
  const policies = new StsPolicies({ dns, shelf, fetch, clock, log });
  return new DirectRoutes({ ...direct, dns, reach, policies, hostname: config.mail.hostname, listens });
}
