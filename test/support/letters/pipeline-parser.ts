import type { ReceivedContent } from '../../../src/contract/messages.js';
import { ApiClient } from '../box/api-client.js';
import { servedContract } from '../contract/served-contract.js';
import { SENDER } from '../smtp/deliver.js';
import { SmtpClient } from '../smtp/smtp-client.js';
import { acceptedId } from './letters.js';

/*
 * The whole appliance in the form that the runner of the recorded MIME cases takes: a message goes in over
 * SMTP, and what the API says of it comes back. `exportPipeline` names the box in the environment.
 */

export interface Pipeline {
  readonly smtpPort: number;
  readonly httpPort: number;
  readonly credential: string;
  readonly address: string;
}

const VARIABLE = 'PIPELINE_OF_THE_BOX';

/** Tells the processes that this one starts where the box is. */
export function exportPipeline(pipeline: Pipeline): void {
  process.env[VARIABLE] = JSON.stringify(pipeline);
}

export default async function parseThroughBox(
  raw: Buffer,
): Promise<{ content: ReceivedContent | null; data: Buffer[] }> {
  const { smtpPort, httpPort, credential, address } = JSON.parse(process.env[VARIABLE] ?? '') as Pipeline;
  const api = new ApiClient(
    () => httpPort,
    credential,
    () => servedContract(httpPort),
  );
  const client = await SmtpClient.ready(smtpPort);
  const id = acceptedId(await client.sendMail(SENDER, [address], raw));
  await client.close();
  const { content } = await api.finished(id);
  if (content === undefined) return { content: null, data: [] };
  const data: Buffer[] = [];
  for (const attachment of content.attachments) data.push(await api.attachment(id, attachment));
  return { content, data };
}
