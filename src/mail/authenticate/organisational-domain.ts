import { getDomain } from 'tldts';

/**
 * The organisational domain (RFC 7489 section 3.2): the one that somebody has registered, by the Public Suffix List with
 * the part that hosting companies have given; a name that is itself such a suffix, or no name, stands for itself.
 * @param domain lower case, A-labels
 */
export function organisationalDomain(domain: string): string {
  return getDomain(domain, OPTIONS) ?? domain;
}

const OPTIONS = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const;
