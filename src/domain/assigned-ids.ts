import { isUsableMessageId } from './message-ids.js';

/**
 * Relays that give every message a Message-ID of their own: the recipients know the message, and answer it, by that
 * one. The relay tells it in its reply to the final dot.
 */

/** Endpoints of Amazon SES, also those of a private network and of its partition in China; the region is named. */
const SES_HOST =
  /^(?:[a-z0-9-]+\.)*email-smtp(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d+)(?:\.vpce)?\.amazonaws\.com(?:\.cn)?\.?$/i;
/** "250 Ok 0100017a...-000000": the part of the id before the at sign. */
const SES_REPLY = /^Ok ([0-9a-z][0-9a-z-]{15,127})$/i;
/** The region where ids have a domain of their own. */
const SES_FIRST_REGION = 'us-east-1';
/** A whole id in angle brackets. */
const BRACKETED = /<([^<>@\s]+@[^<>@\s]+)>/;

/** Is this a relay of which it is known that it replaces Message-IDs? */
export function replacesMessageIds(host: string): boolean {
  return SES_HOST.test(host);
}

/**
 * The Message-ID, without brackets, that a relay has given a message in place of ours.
 * @param host name of the relay
 * @param text of its reply to the final dot, without codes
 * @returns null when the reply does not tell
 */
export function assignedMessageId(host: string, text: string): string | null {
  const [, region] = SES_HOST.exec(host) ?? [];
  const [, local] = SES_REPLY.exec(text.trim()) ?? [];
  const [, whole] = BRACKETED.exec(text) ?? [];
  if (region !== undefined && local !== undefined) {
    const place = region.toLowerCase();
    return `${local}@${place === SES_FIRST_REGION ? 'email' : place}.amazonses.com`;
  }
  return whole !== undefined && isUsableMessageId(whole) ? whole : null;
}
