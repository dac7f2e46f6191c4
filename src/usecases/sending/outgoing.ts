import { MAX_MESSAGE_BYTES } from '../../contract/limits.js';
import type { MessageId } from '../../domain/ids.js';
import type { Mailbox, OutgoingBody, Recipients } from '../../domain/message-parts.js';
import { tooLarge } from '../../domain/send-input.js';
import { attributeHtml, attributeText } from '../../domain/text.js';
import { inSlices } from '../../lib/slices.js';
import { composeMessage } from '../../mail/write/compose-message.js';
import type { Store } from '../../store/engine/store.js';
import type { SentRecord } from '../../store/mailbox/messages.js';
import { readFiles, readSentBodies } from '../shared/contents.js';

/** What is to be sent, worked out and checked. */
export interface OutgoingContent extends OutgoingBody {
  readonly recipients: Recipients;
}

/** What makes a message of a content; the same facts give the same bytes, also after a restart. */
export interface MessageFacts {
  readonly id: MessageId;
  /** Without brackets. */
  readonly messageId: string;
  readonly from: Mailbox;
  /** Milliseconds since the epoch. */
  readonly date: number;
  /** Its References has its own id. */
  readonly mentionsItself: boolean;
}

/** The content as it is transmitted and saved: the texts end with the attribution line. */
export async function withAttribution(
  content: OutgoingContent,
  attribution: string,
): Promise<OutgoingContent> {
  const { text, html } = content;
  return {
    ...content,
    text: attributeText(text, attribution),
    html: html === null ? null : await inSlices(attributeHtml(html, attribution)),
  };
}

/**
 * The whole message as it goes to the relay.
 * @param content attribution included
 * @throws `message_too_large` when it exceeds 5 MiB
 */
export async function composeOutgoing(content: OutgoingContent, facts: MessageFacts): Promise<Buffer> {
  const { recipients, subject, text, html, files, replyTarget } = content;
  const message = await composeMessage({
    ...facts,
    to: recipients.to,
    cc: recipients.cc,
    subject,
    text,
    html,
    replyHeaders: replyTarget?.headers ?? null,
    files,
  });
  if (message.length > MAX_MESSAGE_BYTES) throw tooLarge(message.length);
  return message;
}

/**
 * What a sent message was made of, attribution included, from the store: at most 5 MiB.
 * @throws content_unavailable when bytes are missing
 */
export async function readOutgoing(store: Store, record: SentRecord): Promise<OutgoingContent> {
  const bodies = await readSentBodies(store, record.content);
  const files = await readFiles(store, record.files);
  const { to, cc, bcc, subject, inReplyTo, replyHeaders } = record;
  return {
    recipients: { to, cc, bcc },
    subject,
    text: bodies.text,
    html: bodies.html ?? null,
    files,
    replyTarget:
      inReplyTo === null || replyHeaders === null ? null : { id: inReplyTo, headers: replyHeaders },
  };
}
