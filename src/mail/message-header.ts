import type { ParsedAddress, ReceivedContent, ThreadIds } from '../domain/content.js';
import { bracketedIdsIn, messageIdsIn } from '../domain/thread-ids.js';
import { parseAddresses } from './address-list.js';
import type { FieldName, HeaderFields } from './header-fields.js';
import { unstructuredText, writtenText } from './header-text.js';
import type { ParseLimits } from './limits.js';
import { messageDate } from './message-date.js';

/** What the header of a message says of the message, as opposed to its bodies. */
export interface MessageHeader {
  readonly fields: Omit<ReceivedContent, 'text' | 'html' | 'attachments'>;
  readonly ids: ThreadIds;
}

export function readMessageHeader(header: HeaderFields, limits: ParseLimits): MessageHeader {
  const references = identifiers(header, 'references');
  const inReplyTo = identifiers(header, 'in-reply-to');
  const messageId = messageIdOf(header.first('message-id'));
  const subject = header.first('subject');
  return {
    fields: {
      from: addresses(header, 'from', limits)[0] ?? null,
      sender: addresses(header, 'sender', limits)[0] ?? null,
      reply_to: addresses(header, 'reply-to', limits),
      to: addresses(header, 'to', limits),
      cc: addresses(header, 'cc', limits),
      bcc: addresses(header, 'bcc', limits),
      subject: subject === null ? null : unstructuredText(subject, limits.encodedWords),
      message_id: messageId,
      in_reply_to: inReplyTo,
      references,
      date: messageDate(header.first('date')),
    },
    ids: {
      messageId: messageIdsIn(messageId ?? '', 1)[0] ?? null,
      references: messageIdsIn(references ?? '', limits.threadIds),
      inReplyTo: messageIdsIn(inReplyTo ?? '', limits.threadIds),
    },
  };
}

/** Of a field that stands twice all addresses count (RFC 5322 section 4.5). */
function addresses(header: HeaderFields, name: FieldName, limits: ParseLimits): readonly ParsedAddress[] {
  return header
    .all(name)
    .flatMap(value => parseAddresses(value, limits))
    .slice(0, limits.addresses);
}

function identifiers(header: HeaderFields, name: FieldName): string | null {
  return writtenText(header.all(name).join(' ')) || null;
}

/** The id in its brackets, without comments around it; without brackets the header text as it stands. */
function messageIdOf(raw: string | null): string | null {
  const written = writtenText(raw ?? '');
  const id = bracketedIdsIn(written)[0];
  return id === undefined ? written || null : `<${id}>`;
}
