import { createHash, randomBytes } from 'node:crypto';

/** A message that no other equals. */
export interface Letter {
  readonly subject: string;
  /** As in its header, with angle brackets. */
  readonly messageId: string;
  /** As it goes over the wire between DATA and the final dot, before dot-stuffing. */
  readonly raw: Buffer;
  readonly sha256: string;
}

export interface LetterOptions {
  readonly subject?: string;
  /** About so many bytes in all; a short letter by default. */
  readonly bytes?: number;
  /** Message-IDs, with angle brackets, that it refers to; the last one is what it answers. */
  readonly references?: readonly string[];
}

/** A plain text letter; a longer one has incompressible lines of 76 characters. */
export function writeLetter(options: LetterOptions = {}): Letter {
  const messageId = `<${randomBytes(12).toString('hex')}@client.example>`;
  const subject = options.subject ?? `Letter ${messageId.slice(1, 9)}`;
  const { references = [] } = options;
  const ancestry =
    references.length === 0
      ? []
      : [`In-Reply-To: ${references.at(-1)}`, `References: ${references.join('\r\n ')}`];
  const head = [
    'From: Sender <sender@client.example>',
    'To: Agent <agent@example.org>',
    `Subject: ${subject}`,
    `Message-ID: ${messageId}`,
    ...ancestry,
    'Date: Fri, 27 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'Dear agent,',
    '',
  ].join('\r\n');
  const filler = fill((options.bytes ?? 0) - head.length);
  return letterOf(subject, messageId, Buffer.from(`${head}${filler}`, 'latin1'));
}

function letterOf(subject: string, messageId: string, raw: Buffer): Letter {
  return { subject, messageId, raw, sha256: sha256(raw) };
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function fill(bytes: number): string {
  const lines = Math.max(1, Math.ceil(bytes / 78));
  return randomBytes(lines * 38)
    .toString('hex')
    .replace(/.{76}/g, '$&\r\n');
}

/** The id of the stored message in a 250 reply to the final dot. */
export function acceptedId(reply: { readonly code: number; readonly text: string }): string {
  const id = /^250 2\.0\.0 OK ([0-9a-f-]{36})$/.exec(reply.text)?.[1];
  if (id === undefined) throw new Error(`not a reply that accepts a message: ${reply.text}`);
  return id;
}
