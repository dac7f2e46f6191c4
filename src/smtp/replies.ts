/** A reply that we send: its code (RFC 5321 section 4.2), and the whole line. */
export interface SmtpReply {
  readonly code: number;
  /** As it is sent, with enhanced status code (RFC 3463), text and CRLF. */
  readonly line: string;
}

function reply(code: number, enhanced: string, words: string): SmtpReply {
  return { code, line: `${code} ${enhanced} ${words}\r\n` };
}

/**
 * All our replies. The library words those to EHLO, NOOP, RSET, QUIT, HELP, VRFY and STARTTLS, and to syntax errors
 * that it finds itself.
 */
export const replies = {
  senderOk: reply(250, '2.1.0', 'Sender OK'),
  recipientOk: reply(250, '2.1.5', 'Recipient OK'),
  /** 3xx replies have no enhanced status code (RFC 2034 section 3). */
  startMail: { code: 354, line: '354 End data with <CRLF>.<CRLF>\r\n' },

  shuttingDown: reply(421, '4.3.2', 'Service shutting down'),
  tooManyClients: reply(421, '4.3.2', 'Too many connections, try again later'),
  tooManyFromAddress: reply(421, '4.7.0', 'Too many connections from your address, try again later'),
  tooManyErrors: reply(421, '4.7.0', 'Too many errors, closing connection'),
  idleTimeout: reply(421, '4.4.2', 'Idle for too long, closing connection'),
  sessionTimeout: reply(421, '4.4.2', 'Session has lasted too long, closing connection'),
  dataTimeout: reply(421, '4.4.2', 'Message took too long, closing connection'),
  tooSlow: reply(421, '4.4.2', 'Message comes too slowly, closing connection'),
  placeNeeded: reply(421, '4.3.2', 'Idle or slow while others wait for a connection, try again later'),
  tooManyUnknown: reply(421, '4.7.0', 'Too many unknown recipients, closing connection'),

  storeError: reply(451, '4.3.0', 'Local error in processing, try again later'),
  /** RFC 3463 section 3.3: X.2.2 "Mailbox full". */
  mailboxFull: reply(452, '4.2.2', 'The recipient stores as much as it may, try again later'),
  /** RFC 3463 section 3.8: X.7.5 "Cryptographic failure". */
  checkLater: reply(451, '4.7.5', 'The author of the message cannot be verified now, try again later'),
  noRoom: reply(452, '4.3.1', 'Insufficient system storage, try again later'),
  tooManyRecipients: reply(452, '4.5.3', 'Too many recipients'),

  lineTooLong: reply(500, '5.5.2', 'Line too long'),
  badSender: reply(501, '5.1.7', 'Bad sender address syntax'),
  badRecipient: reply(501, '5.1.3', 'Bad recipient address syntax'),
  badParameter: reply(501, '5.5.4', 'Bad parameter syntax'),
  dataArgument: reply(501, '5.5.4', 'DATA takes no argument'),
  unknownParameter: reply(555, '5.5.4', 'Parameter not recognized'),
  nestedMail: reply(503, '5.5.1', 'Sender already given'),
  needMail: reply(503, '5.5.1', 'Need MAIL command'),
  needRecipient: reply(503, '5.5.1', 'Need RCPT command'),

  unknownRecipient: reply(550, '5.1.1', 'No such mailbox here'),
  /** RFC 3463 section 3.8: delivery not authorised. */
  blockedSender: reply(550, '5.7.1', 'The recipient does not accept mail from this sender'),
  unprovenAuthor: reply(
    550,
    '5.7.1',
    'The recipient takes only mail whose author is proven (SPF, DKIM, DMARC)',
  ),
  tooLarge: reply(552, '5.3.4', 'Message size exceeds fixed limit'),
  badLineEnding: reply(554, '5.6.0', 'Bare CR, bare LF or NUL in message, closing connection'),
  mailLoop: reply(554, '5.4.6', 'Too many Received header lines, mail is looping'),
} as const satisfies Record<string, SmtpReply>;

/** Formats a reply of the library, which may have several lines (RFC 5321 section 4.2.1), as it is sent. */
export function renderReply(code: number, enhanced: string, data?: string | string[] | null): string {
  const lines = Array.isArray(data) ? data : [data ?? ''];
  const prefix = enhanced === '' ? '' : `${enhanced} `;
  return lines.map((line, at) => `${code}${at < lines.length - 1 ? '-' : ' '}${prefix}${line}\r\n`).join('');
}

/** The message is on disk. The reply tells the id of its first copy. */
export function accepted(messageId: string | undefined): SmtpReply {
  return reply(250, '2.0.0', messageId === undefined ? 'OK' : `OK ${messageId}`);
}

/**
 * The words that RFC 7489 section 10.3 gives for mail that its own domain wants refused.
 * @param domain that of From, in A-labels; null where there is not one
 */
export function refusedByDomain(domain: string | null): SmtpReply {
  const shown = domain !== null && /^[a-z0-9_.-]{1,253}$/.test(domain) ? domain : 'what is in From';
  return reply(550, '5.7.1', `Email rejected per DMARC policy for ${shown}`);
}
