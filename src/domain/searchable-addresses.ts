import type { ParsedAddress, ReceivedContent } from './content.js';

/** Mailboxes of From: what a search by sender finds. */
export function sendersOf({ from }: Pick<ReceivedContent, 'from'>): string[] {
  return searchable([from]);
}

/** Mailboxes of To, Cc and Bcc: what a search by recipient finds. */
export function recipientsOf({ to, cc, bcc }: Pick<ReceivedContent, 'to' | 'cc' | 'bcc'>): string[] {
  return searchable([...to, ...cc, ...bcc]);
}

/** Addresses of one message that searches find; a header with more is a mailing gone wrong. */
const MAX_SEARCHABLE = 1_000;

/** Members of groups included; lower case, each once. */
function searchable(header: readonly (ParsedAddress | null)[]): string[] {
  const addresses = new Set<string>();
  for (const entry of header) {
    if (entry === null) continue;
    for (const { address } of 'group' in entry ? entry.group : [entry]) {
      if (address !== '' && addresses.size < MAX_SEARCHABLE) addresses.add(address.toLowerCase());
    }
  }
  return [...addresses];
}
