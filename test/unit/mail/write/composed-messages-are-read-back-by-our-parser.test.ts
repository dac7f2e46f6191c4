import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import type { ReceivedContent } from '../../../../src/contract/messages.js';
import type { Mailbox } from '../../../../src/domain/message-parts.js';
import { cleanText, safeFilename } from '../../../../src/domain/text.js';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { type ParsedWithFiles, parseBytes } from '../read/parse-text.js';
import { asRead, fileAsRead, inOrder, message, referencesOf } from './outgoing-messages.js';

const RUNS = 500;

/** A header text as our parser gives it: without controls, and without white space around it. */
function mailboxes(list: readonly Mailbox[]): unknown {
  return list.map(({ address, name = '' }) => ({ name: cleanText(name), address }));
}

/** Our parser drops a byte-order mark at the beginning of a body. */
function body(text: string): string {
  return asRead(text).replace(/^\ufeff/, '');
}

function expectedContent(sent: OutgoingMessage): ReceivedContent {
  return {
    from: { name: cleanText(sent.from.name ?? ''), address: sent.from.address },
    sender: null,
    reply_to: [],
    to: mailboxes(sent.to) as ReceivedContent['to'],
    cc: mailboxes(sent.cc) as ReceivedContent['cc'],
    bcc: [],
    subject: cleanText(sent.subject),
    message_id: `<${sent.messageId}>`,
    in_reply_to: sent.replyHeaders?.inReplyTo ?? null,
    references: referencesOf(sent),
    date: new Date(Math.floor(sent.date / 1000) * 1000).toISOString(),
    text: body(sent.text),
    html: sent.html === null ? null : body(sent.html),
    attachments: inOrder(sent).map((file, index) => ({
      id: `a${index + 1}`,
      filename: safeFilename(fileAsRead(file).filename),
      size: file.bytes.length,
      mime_type: fileAsRead(file).type,
      disposition: file.disposition,
      content_id: file.contentId ?? null,
      related: file.isEmbedded,
    })),
  };
}

async function readBack(sent: OutgoingMessage): Promise<ParsedWithFiles> {
  return parseBytes(await composeMessage(sent));
}

t.test('any message comes back as it was given', async t => {
  await t.resolves(
    fc.assert(
      fc.asyncProperty(message, async sent => {
        const { content, files } = await readBack(sent);
        return (
          isDeepStrictEqual(content, expectedContent(sent)) &&
          isDeepStrictEqual(
            files,
            inOrder(sent).map(file => Buffer.from(file.bytes)),
          )
        );
      }),
      { numRuns: RUNS },
    ),
  );
});
