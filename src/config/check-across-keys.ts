import { isIP } from 'node:net';
import { domainOf, isLoopback } from '../domain/addresses.js';
import { checkTls } from './check-tls.js';
import type { ConfigProblem } from './config-problem.js';
import type { SettledValues } from './settle-values.js';

/** Checks rules that involve several keys. A rule is skipped when one of its keys is wrong by itself. */
export function checkAcrossKeys(values: SettledValues): ConfigProblem[] {
  return [
    checkRedis(values),
    ...checkTls(values),
    checkPostmaster(values),
    ...checkSmarthost(values),
    checkSourceAddresses(values),
    checkResolvers(values),
    checkUnauthenticated(values),
    checkSignupDomains(values),
    checkOidc(values),
  ].flatMap(problem => problem ?? []);
}

function checkRedis(values: SettledValues): ConfigProblem | null {
  const mode = values.get('redis.mode');
  const url = values.get('redis.url');
  if (mode === undefined || url === undefined) return null;
  if (mode.value === 'external' && url.value === null) {
    return {
      where: mode.where,
      what: 'redis.mode is "external", but redis.url is not set',
      fix: 'Set redis.url to the address of that Redis, or leave redis.mode at "managed".',
    };
  }
  if (mode.value === 'managed' && url.value !== null) {
    return {
      where: url.where,
      what: 'redis.url is set, but redis.mode is "managed", which does not use it',
      fix: 'Set redis.mode to "external", or remove redis.url.',
    };
  }
  return null;
}

function checkUnauthenticated(values: SettledValues): ConfigProblem | null {
  const unauthenticated = values.get('inbound.unauthenticated');
  if (unauthenticated?.value !== 'reject' || values.get('inbound.dns_timeout_s')?.value !== 0) return null;
  return {
    where: unauthenticated.where,
    what: 'inbound.unauthenticated is "reject", but inbound.dns_timeout_s is 0: who has written a message is not found out',
    fix: 'Give the DNS some seconds, or leave inbound.unauthenticated at "accept".',
  };
}

function checkPostmaster(values: SettledValues): ConfigProblem | null {
  const postmaster = values.get('mail.postmaster_inbox');
  const domains = values.get('mail.domains')?.value;
  if (typeof postmaster?.value !== 'string' || !Array.isArray(domains)) return null;
  const domain = domainOf(postmaster.value);
  if (domains.includes(domain)) return null;
  return {
    where: postmaster.where,
    what: `mail.postmaster_inbox is in ${JSON.stringify(domain)}, which is not one of mail.domains`,
    fix: `Name an inbox of this service, in ${domains.join(' or ')}.`,
  };
}

/** Domains without the policy are allowed: an operator may close signup for a while and keep them. */
function checkSignupDomains(values: SettledValues): ConfigProblem | null {
  const policy = values.get('signup.policy');
  const domains = values.get('signup.domains');
  if (policy?.value !== 'domains' || !Array.isArray(domains?.value) || domains.value.length > 0) return null;
  return {
    where: policy.where,
    what: 'signup.policy is "domains", but signup.domains names none',
    fix: 'Name the domains, or leave signup.policy at "closed".',
  };
}

function checkOidc(values: SettledValues): ConfigProblem | null {
  const set = ['issuer', 'client_id', 'client_secret_file', 'name', 'own_domains'].filter(name => {
    const value = values.get(`signup.oidc.${name}`)?.value ?? null;
    return value !== null && value !== false;
  });
  const missing = ['issuer', 'client_id'].find(name => !set.includes(name));
  const [first] = set;
  if (first === undefined || missing === undefined) return null;
  // If that key is not missing but wrong by itself, its problem has been reported.
  if (values.get(`signup.oidc.${missing}`) === undefined) return null;
  return {
    where: values.get(`signup.oidc.${first}`)?.where ?? 'signup.oidc',
    what: `signup.oidc.${first} is set, but signup.oidc.${missing} is not`,
    fix: `Set signup.oidc.${missing} too, or none of [signup.oidc] to send links by mail.`,
  };
}

/** Checks rules between the keys of [relay] and [relay.smarthost]. */
function checkSmarthost(values: SettledValues): (ConfigProblem | null)[] {
  return [checkHost(values), checkCredentials(values), checkPlainPassword(values), checkCaFile(values)];
}

function checkHost(values: SettledValues): ConfigProblem | null {
  const transport = values.get('relay.transport');
  const host = values.get('relay.smarthost.host');
  if (transport === undefined || host === undefined) return null;
  if (transport.value === 'smarthost' && host.value === null) {
    return {
      where: transport.where,
      what: 'relay.transport is "smarthost", but relay.smarthost.host is not set',
      fix: 'Set relay.smarthost.host to the name of that server, or leave relay.transport at "local".',
    };
  }
  if (transport.value === 'local' && host.value !== null) {
    return {
      where: host.where,
      what: 'relay.smarthost.host is set, but relay.transport is "local", which does not use it',
      fix: 'Set relay.transport to "smarthost", or remove relay.smarthost.host.',
    };
  }
  return null;
}

function checkCredentials(values: SettledValues): ConfigProblem | null {
  const user = values.get('relay.smarthost.user');
  const file = values.get('relay.smarthost.password_file');
  if (user === undefined || file === undefined) return null;
  if ((user.value === null) === (file.value === null)) return null;
  const [set, setName, missingName] =
    user.value === null ? [file, 'password_file', 'user'] : [user, 'user', 'password_file'];
  return {
    where: set.where,
    what: `relay.smarthost.${setName} is set, but relay.smarthost.${missingName} is not`,
    fix: `Set relay.smarthost.${missingName} too, or neither for a server that asks for no password.`,
  };
}

function checkPlainPassword(values: SettledValues): ConfigProblem | null {
  const tls = values.get('relay.smarthost.tls');
  const file = values.get('relay.smarthost.password_file')?.value;
  const host = values.get('relay.smarthost.host')?.value;
  if (tls?.value !== 'none' || typeof file !== 'string' || typeof host !== 'string') return null;
  if (isLoopback(host)) return null;
  return {
    where: tls.where,
    what: `relay.smarthost.tls is "none", so the password would go to ${host} in plain text`,
    fix: 'Set relay.smarthost.tls to "starttls" or "implicit", or do without user and password_file.',
  };
}

function checkCaFile(values: SettledValues): ConfigProblem | null {
  const tls = values.get('relay.smarthost.tls');
  const file = values.get('relay.smarthost.ca_file');
  if (tls?.value !== 'none' || file === undefined || file.value === null) return null;
  return {
    where: file.where,
    what: 'relay.smarthost.ca_file is set, but relay.smarthost.tls is "none", which checks no certificate',
    fix: 'Set relay.smarthost.tls to "starttls" or "implicit", or remove relay.smarthost.ca_file.',
  };
}

function checkSourceAddresses(values: SettledValues): ConfigProblem | null {
  const source = values.get('relay.direct.source_address');
  if (source === undefined || !Array.isArray(source.value)) return null;
  const addresses = source.value as readonly string[];
  for (const family of [4, 6]) {
    if (addresses.filter(address => isIP(address) === family).length < 2) continue;
    return {
      where: source.where,
      what: `relay.direct.source_address names more than one IPv${family} address`,
      fix: 'Name one IPv4 address, one IPv6 address or both.',
    };
  }
  const isUsed = values.get('relay.direct.ipv6')?.value !== 'off';
  const ipv6 = addresses.find(address => isIP(address) === 6);
  if (isUsed || ipv6 === undefined) return null;
  return {
    where: source.where,
    what: `relay.direct.source_address names ${ipv6}, but relay.direct.ipv6 is "off", which does not use it`,
    fix: 'Set relay.direct.ipv6 to "auto" or "on", or remove the IPv6 address.',
  };
}

function checkResolvers(values: SettledValues): ConfigProblem | null {
  const servers = values.get('dns.servers');
  if (servers === undefined || !Array.isArray(servers.value) || servers.value.length <= 3) return null;
  return {
    where: servers.where,
    what: `dns.servers names ${servers.value.length} resolvers`,
    fix: 'Name three at most: mail would wait too long for more.',
  };
}
