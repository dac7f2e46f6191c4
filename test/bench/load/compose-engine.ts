import { createInterface } from 'node:readline';
import MailComposer from 'nodemailer/lib/mail-composer';
import { composeMessage, type OutgoingMessage } from '../../../src/mail/write/compose-message.js';
import { type ComposeOrder, type ComposerName, outgoingMessage } from './compose-corpus.js';
import type { Speed } from './run-engine.js';

/** A composer in its own process. Each line that it reads is an order, each line that it writes a result. */

const { composer } = JSON.parse(process.argv[2] ?? '') as { composer: ComposerName };

type Compose = (message: OutgoingMessage) => Buffer | Promise<Buffer>;

/** The same message as it is given to nodemailer. */
function composeByNodemailer(message: OutgoingMessage): Promise<Buffer> {
  const { from, to, subject, text, html, messageId, date, files } = message;
  return new MailComposer({
    from: { address: from.address, name: from.name ?? '' },
    to: to.map(({ address, name }) => ({ address, name: name ?? '' })),
    subject,
    text,
    ...(html === null ? {} : { html }),
    messageId: `<${messageId}>`,
    date: new Date(date),
    attachments: files.map(({ filename, type, bytes }) => ({
      filename,
      contentType: type,
      content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
}

const compose: Compose = composer === 'composeMessage' ? composeMessage : composeByNodemailer;

async function measure({ kind, durationMs }: ComposeOrder): Promise<Speed> {
  const message = outgoingMessage(kind);
  const startedAt = performance.now();
  let composed = 0;
  let bytes = 0;
  while (performance.now() < startedAt + durationMs) {
    bytes += (await compose(message)).length;
    composed += 1;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: composed / seconds, bytesPerSecond: bytes / seconds };
}

for await (const line of createInterface({ input: process.stdin })) {
  const speed = await measure(JSON.parse(line) as ComposeOrder);
  process.stdout.write(`${JSON.stringify(speed)}\n`);
}
process.exit(0);
