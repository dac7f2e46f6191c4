import { normaliseLocalPart } from '../domain/inbox-address.js';
import { checkDomainName } from './domain-name.js';
import { type Checked, invalid, type ValueType, valid } from './value-type.js';

/** A domain that mail can be addressed to: two labels or more, or `localhost` for a trial. */
export function mailDomain(): ValueType<string> {
  return {
    name: 'mail domain',
    allowed: 'ASCII or punycode',
    isSecret: false,
    check: raw =>
      typeof raw === 'string' ? checkMailDomain(raw.trim()) : invalid('is not a domain in quotes'),
    fromText: given => given,
  };
}

/** The address of an inbox: local part and mail domain, lowercased. */
export function inboxAddress(): ValueType<string> {
  return {
    name: 'address',
    allowed: 'local-part@domain',
    isSecret: false,
    check(raw) {
      if (typeof raw !== 'string') return invalid('is not an address in quotes');
      const address = raw.trim().toLowerCase();
      const at = address.lastIndexOf('@');
      if (at < 0) return invalid('has no @');
      const localPart = checkLocalPart(address.slice(0, at));
      if (!localPart.ok) return invalid(`has a local part that ${localPart.wrong}`);
      const domain = checkMailDomain(address.slice(at + 1));
      return domain.ok ? valid(address) : invalid(`has a domain that ${domain.wrong}`);
    },
    fromText: given => given,
  };
}

/** What stands before the `@` of an inbox address, lowercased. */
export function localPart(): ValueType<string> {
  return {
    name: 'local part',
    allowed: '1 to 64 letters, digits, - and _, alphanumeric at both ends',
    isSecret: false,
    check: raw => (typeof raw === 'string' ? checkLocalPart(raw) : invalid('is not a local part in quotes')),
    fromText: given => given,
  };
}

function checkMailDomain(text: string): Checked<string> {
  const domain = checkDomainName(text);
  if (domain.ok && !domain.value.includes('.') && domain.value !== 'localhost') {
    return invalid('is a single label; mail needs a full domain name');
  }
  return domain;
}

function checkLocalPart(text: string): Checked<string> {
  const localPart = normaliseLocalPart(text);
  return localPart.ok
    ? valid(localPart.value)
    : invalid('is not 1 to 64 letters, digits, - and _ that start and end with a letter or digit');
}
