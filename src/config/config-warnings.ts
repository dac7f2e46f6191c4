import { isLoopback } from '../domain/addresses.js';
import type { ConfigProblem } from './config-problem.js';
import type { Config } from './load-config.js';

/**
 * Settings that are allowed but probably not intended; said when the daemon starts and by `postern config check`.
 * `where` is a key.
 */
export function configWarnings(config: Config): readonly ConfigProblem[] {
  return [
    signupDomains(config),
    plainPublicUrl(config),
    trustedResolvers(config),
    openFigures(config),
  ].flatMap(warning => warning ?? []);
}

/** Are addresses in `mail.domains` taken from the sign-in provider? */
export function takesOwnDomains({ signup }: Config): boolean {
  return signup.oidc.issuer !== null && signup.oidc.ownDomains;
}

function signupDomains(config: Config): ConfigProblem | null {
  const { signup, mail } = config;
  const own = signup.domains.filter(domain => mail.domains.includes(domain));
  if (signup.policy !== 'domains' || own.length === 0 || takesOwnDomains(config)) return null;
  return {
    where: 'signup.domains',
    what: `${own.join(', ')} is ignored: it is one of mail.domains, where agents make inboxes and could approve access for themselves`,
    fix: 'Name only domains whose mail is kept elsewhere, and approve for others with "postern approve EMAIL".',
  };
}

function plainPublicUrl({ service }: Config): ConfigProblem | null {
  const { protocol, hostname } = new URL(service.publicUrl);
  if (protocol !== 'http:' || isLoopback(hostname)) return null;
  return {
    where: 'service.public_url',
    what: 'is not https: approvals and keys travel in plain text',
    fix: 'Put a reverse proxy with TLS before the HTTP listener, and name its https address.',
  };
}

function trustedResolvers({ dns }: Config): ConfigProblem | null {
  if (!dns.trustAd || dns.servers.length > 0) return null;
  return {
    where: 'dns.trust_ad',
    what: 'holds for whatever resolvers /etc/resolv.conf names, which the network may change',
    fix: 'Name resolvers that validate in dns.servers, best one on this machine.',
  };
}

function openFigures({ admin }: Config): ConfigProblem | null {
  if (admin.port === 0 || isLoopback(admin.host)) return null;
  return {
    where: 'admin.host',
    what: `is ${admin.host}: whoever reaches it learns how much mail there is, and when`,
    fix: 'Leave it at 127.0.0.1, or let a firewall admit your Prometheus alone.',
  };
}
