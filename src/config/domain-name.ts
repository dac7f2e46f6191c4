import { domainToASCII, domainToUnicode } from 'node:url';
import { type Checked, invalid, valid } from './value-type.js';

/** Letters, digits and inner hyphens, at most 63 octets (RFC 1123 section 2.1, RFC 5890 section 2.3.1). */
const LDH_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Checks a domain or host name in ASCII and lowercases it: LDH labels, at most 253 octets, A-labels
 * that decode (RFC 5891 section 4.2), and no numeric last label, which would read as an IPv4 address
 * (RFC 3696 section 2).
 */
export function checkDomainName(text: string): Checked<string> {
  const name = text.toLowerCase();
  if (name === '') return invalid('is empty');
  if (/[^\x00-\x7f]/.test(name)) return invalid('has characters outside ASCII', punycodeOf(name));
  if (name.endsWith('.')) return invalid('ends with a dot', proposed(name.slice(0, -1)));
  if (name.length > 253) return invalid('is longer than 253 characters');
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
