import type { DmarcResult } from './authentication.js';

/** Longest chain (RFC 8617 section 4.2.1). */
export const MAX_ARC_SETS = 50;

const RESULTS: readonly string[] = ['pass', 'fail', 'none', 'temperror', 'permerror'] satisfies DmarcResult[];

/**
 * What an ARC-Authentication-Results says of DMARC (RFC 8601 section 2.2); null when it does not say, or says two things.
 * Comments and quoted strings, in which senders may have their words, do not count.
 * @param value of the field, one character for each byte
 */
export function claimedDmarc(value: string): DmarcResult | null {
  const claims = new Set<string>();
  for (const part of plainText(value).split(';')) {
    const [, result] = /^\s*dmarc\s*=\s*([a-z]+)(?![^\s])/i.exec(part) ?? [];
    if (result !== undefined) claims.add(result.toLowerCase());
  }
  const [claim] = claims;
  return claims.size === 1 && claim !== undefined && isResult(claim) ? claim : null;
}

function isResult(text: string): text is DmarcResult {
  return RESULTS.includes(text);
}

/** Without comments, which nest, and quoted strings. What is not closed takes the rest. */
function plainText(value: string): string {
  let plain = '';
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < value.length; at++) {
    const character = value.charAt(at);
    if (character === '\\') at++;
    else if (isQuoted) isQuoted = character !== '"';
    else if (character === '(') depth++;
    else if (character === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0 && character === '"') isQuoted = true;
    else if (depth === 0) plain += character;
    if (character === ')' || character === '(') plain += ' ';
  }
  return plain;
}
