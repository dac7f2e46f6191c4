import type { PosternBox } from '../box/postern-box.js';
import { acceptedId, type Letter } from '../letters/letters.js';
import { SmtpClient } from './smtp-client.js';

export const SENDER = 'sender@client.example';

/** Sends one message over a connection of its own; the id of what was stored. Throws unless it is accepted. */
export async function deliver(
  box: PosternBox,
  recipients: string | readonly string[],
  message: Letter | Uint8Array | string,
  from = SENDER,
): Promise<string> {
  const client = await SmtpClient.ready(box.smtpPort);
  const raw = typeof message === 'object' && 'raw' in message ? message.raw : message;
  const to = typeof recipients === 'string' ? [recipients] : recipients;
  const id = acceptedId(await client.sendMail(from, to, raw));
  await client.close();
  return id;
}
