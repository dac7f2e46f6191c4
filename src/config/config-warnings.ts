import { isLoopback } from '../domain/addresses.js';
import type { ConfigProblem } from './config-problem.js';
import type { Config } from './load-config.js';
import { isPublicName } from './public-name.js';

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
    unnamedPublicUrl(config),
    openHttp(config),
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

function plainPublicUrl({ service, http }: Config): ConfigProblem | null {
  const { protocol, hostname } = new URL(service.publicUrl);
  if (protocol !== 'http:') return null;
  if (http.tls !== 'off') {
    return {
      where: 'service.public_url',
      what: 'begins with http:, but the HTTP listener speaks HTTPS (http.tls): its links lead nowhere',
      fix: 'Name the https address at which it is reached.',
    };
  }
  if (isLoopback(hostname)) return null;
  return {
    where: 'service.public_url',
    what: 'is not https: approvals and keys travel in plain text',
    fix: 'Let the HTTP listener speak HTTPS (http.tls), or put a reverse proxy with TLS before it; name the https address.',
  };
}

function unnamedPublicUrl({ service, http }: Config): ConfigProblem | null {
  const { hostname } = new URL(service.publicUrl);
  if (http.tls !== 'acme' || isPublicName(hostname)) return null;
  return {
    where: 'service.public_url',
    what: `its host, ${hostname}, will not be in the certificate: it is no name on the Internet`,
    fix: 'Name the host under which the API is reached.',
  };
}

function openHttp({ http }: Config): ConfigProblem | null {
  if (http.tls === 'off' || !isLoopback(http.host)) return null;
  return {
    where: 'http.host',
    what: `is ${http.host}, an address of this machine alone, although the listener speaks HTTPS (http.tls)`,
    fix: 'Set http.host to an address that others reach, such as "::", and http.port to 443.',
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
