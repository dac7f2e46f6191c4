import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { isLoopback, MAX_DOMAIN_LENGTH } from '../domain/addresses.js';
import { type Checked, invalid, Secret, type ValueType, valid } from './key.js';

/** A TCP port to listen on. */
export function port(): ValueType<number> {
  return {
    name: 'port',
    allowed: '1 to 65535, or 0 for any free port',
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'bigint' && !Number.isInteger(raw)) return invalid('is not a whole number');
      const value = Number(raw);
      return value < 0 || value > 65535 ? invalid('is not between 0 and 65535') : valid(value);
    },
    fromText: given => (/^\d+$/.test(given.trim()) ? Number(given) : undefined),
  };
}

/** The host name of a machine, as in the SMTP greeting (RFC 5321 section 2.3.5). */
export function hostName(): ValueType<string> {
  return {
    name: 'host name',
    allowed: 'ASCII or punycode',
    isSecret: false,
    check: raw =>
      typeof raw === 'string' ? checkDomainName(raw.trim()) : invalid('is not a name in quotes'),
    fromText: given => given,
  };
}

/** An address that a listener binds to: IPv4, IPv6 or a host name. */
export function listenHost(): ValueType<string> {
  return {
    name: 'host',
    allowed: 'an IP address or a host name',
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'string') return invalid('is not a host in quotes');
      const host = raw.trim();
      const unbracketed = /^\[.*\]$/.test(host) ? host.slice(1, -1) : null;
      if (unbracketed !== null && isIP(unbracketed) === 6) return invalid('has brackets', unbracketed);
      return isIP(host) === 0 ? checkDomainName(host) : valid(host);
    },
    fromText: given => given,
  };
}

/** A machine to connect to: IPv4, IPv6 or a host name. */
export function remoteHost(): ValueType<string> {
  return listenHost();
}

/** A URL with http or https, without credentials. */
export function webUrl(): ValueType<string> {
  return {
    name: 'URL',
    allowed: 'http or https',
    isSecret: false,
    check(raw) {
      const url = toUrl(raw, ['http:', 'https:']);
      return url.ok ? valid(url.value.href) : url;
    },
    fromText: given => given,
  };
}

/**
 * A URL to which paths are appended: http or https, without a trailing slash, query or fragment.
 */
export function baseUrl(): ValueType<string> {
  return {
    name: 'URL',
    allowed: 'http or https, without a trailing slash, query or fragment',
    isSecret: false,
    check(raw) {
      const url = toUrl(raw, ['http:', 'https:']);
      if (!url.ok) return url;
      const { origin, pathname, search, hash } = url.value;
      const bare = origin + pathname.replace(/\/+$/, '');
      if (search !== '' || hash !== '' || /[?#]/.test(String(raw))) {
        return invalid('has a query or a fragment', bare);
      }
      return String(raw).trim().endsWith('/') ? invalid('has a trailing slash', bare) : valid(bare);
    },
    fromText: given => given,
  };
}

/** The issuer of an OpenID Connect provider, kept exactly as written: https, or http on this machine. */
export function issuerUrl(): ValueType<string> {
  return {
    name: 'URL',
    allowed: 'https, or http of a loopback address; without query or fragment',
    isSecret: false,
    check(raw) {
      const url = toUrl(raw, ['http:', 'https:']);
      if (!url.ok) return url;
      const { protocol, hostname, search, hash } = url.value;
      if (search !== '' || hash !== '') return invalid('has a query or a fragment');
      return protocol === 'https:' || isLoopback(hostname)
        ? valid(String(raw).trim())
        : invalid('is not https, and its host is not this machine');
    },
    fromText: given => given,
  };
}

/** An IP address. */
export function ipAddress(): ValueType<string> {
  return {
    name: 'address',
    allowed: 'IPv4 or IPv6',
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'string') return invalid('is not an address in quotes');
      const address = raw.trim().toLowerCase();
      return isIP(address) === 0 || address.includes('%') ? invalid('is not an IP address') : valid(address);
    },
    fromText: given => given,
  };
}

/** Where a DNS resolver listens: an IP address, with its port where that is not 53. */
export function resolverAddress(): ValueType<string> {
  return {
    name: 'resolver',
    allowed: 'an IP address, or one with a port, such as 127.0.0.1:5353 or [::1]:5353',
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'string') return invalid('is not an address in quotes');
      const given = raw.trim();
      if (isIP(given) !== 0) return valid(given);
      const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(given) ?? [];
      const isAddress = bracketed === undefined ? isIP(plain ?? '') === 4 : isIP(bracketed) === 6;
      if (!isAddress) return invalid('is not an IP address, with or without a port');
      return Number(port) >= 1 && Number(port) <= 65535 ? valid(given) : invalid('has no valid port');
    },
    fromText: given => given,
  };
}

/** An IP address, or a network in CIDR notation (RFC 4632 section 3.1). */
export function network(): ValueType<string> {
  return {
    name: 'network',
    allowed: 'an IP address, or one with a prefix length, such as 10.0.0.0/8',
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'string') return invalid('is not an address in quotes');
      const [address = '', length, ...rest] = raw.trim().split('/');
      const version = isIP(address);
      if (version === 0 || address.includes('%') || rest.length > 0) {
        return invalid('is not an IP address or network');
      }
      if (length === undefined) return valid(address);
      const isLength = /^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128);
      return isLength ? valid(`${address}/${Number(length)}`) : invalid('has no valid prefix length');
    },
    fromText: given => given,
  };
}

/** The address of an external Redis. It is secret, because it may hold a password. */
export function redisUrl(): ValueType<Secret> {
  return {
    name: 'URL',
    allowed: 'redis://, rediss:// (TLS), or the absolute path of a socket',
    isSecret: true,
    check(raw) {
      if (typeof raw === 'string' && /^\/[^/]/.test(raw)) return valid(new Secret(raw));
      const url = toUrl(raw, ['redis:', 'rediss:']);
      if (!url.ok) return url;
      if (url.value.hostname === '') return invalid('names no host');
      return /^(?:\/\d*)?$/.test(url.value.pathname)
        ? valid(new Secret(url.value.href))
        : invalid('has a path that is not a database number');
    },
    fromText: given => given,
  };
}

function toUrl(raw: unknown, protocols: readonly string[]): Checked<URL> {
  if (typeof raw !== 'string') return invalid('is not a URL in quotes');
  const given = raw.trim();
  if (!URL.canParse(given) || !given.includes('://')) return invalid('is not a complete URL');
  const url = new URL(given);
  if (!protocols.includes(url.protocol)) {
    return invalid(`does not start with ${protocols.map(protocol => `${protocol}//`).join(' or ')}`);
  }
  const isWeb = protocols.includes('https:');
  return isWeb && (url.username !== '' || url.password !== '')
    ? invalid('holds a user name or password')
    : valid(url);
}

/** Letters, digits and inner hyphens, at most 63 octets (RFC 1123 section 2.1, RFC 5890 section 2.3.1). */
const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Checks a domain or host name in ASCII and lowercases it: LDH labels, at most `MAX_DOMAIN_LENGTH` characters,
 * A-labels that decode (RFC 5891 section 4.2), and no numeric last label, which would read as an IPv4 address
 * (RFC 3696 section 2).
 */
export function checkDomainName(text: string): Checked<string> {
  const name = text.toLowerCase();
  if (name === '') return invalid('is empty');
  if (/[^\x00-\x7f]/.test(name)) return invalid('has characters outside ASCII', punycodeOf(name));
  if (name.endsWith('.')) return invalid('ends with a dot', proposed(name.slice(0, -1)));
  if (name.length > MAX_DOMAIN_LENGTH) return invalid(`is longer than ${MAX_DOMAIN_LENGTH} characters`);
  const labels = name.split('.');
  for (const label of labels) {
    const wrong = wrongWithLabel(label);
    if (wrong !== null) return invalid(wrong);
  }
  return /^\d+$/.test(labels.at(-1) ?? '') ? invalid('ends in a number, like an IP address') : valid(name);
}

function wrongWithLabel(label: string): string | null {
  if (label === '') return 'has an empty label (two dots, or a dot at the start)';
  if (label.length > 63) return 'has a label of more than 63 characters';
  if (!LDH_LABEL.test(label)) return 'may hold only letters, digits, hyphens inside a label, and dots';
  // Hyphens in the third and fourth place are reserved for A-labels (RFC 5890 section 2.3.1).
  if (label.slice(2, 4) === '--' && !isALabel(label)) {
    return `has a label that is not valid punycode ("${label}")`;
  }
  return null;
}

function isALabel(label: string): boolean {
  const unicode = domainToUnicode(label);
  return label.startsWith('xn--') && unicode !== label && domainToASCII(unicode) === label;
}

function punycodeOf(name: string): string | undefined {
  return proposed(domainToASCII(name));
}

function proposed(name: string): string | undefined {
  return name !== '' && checkDomainName(name).ok ? name : undefined;
}
