import { largestPoison, poisonSet } from '../../abuse/poison-set.js';
import { acceptedId, sha256 } from '../../support/letters/letters.js';
import { SENDER } from '../../support/smtp/deliver.js';
import { SmtpClient } from '../../support/smtp/smtp-client.js';
import type { PoisonRun, SentPoison } from './run-poison-load.js';

/** The sender's process, started by `run-poison-load.ts`. */

const run = JSON.parse(process.argv[2] ?? '') as PoisonRun;
const client = await SmtpClient.ready(run.port);
const sent: SentPoison[] = [];
for (const { name, build } of [...poisonSet(run.sizes), ...largestPoison(run.largest)]) {
  const raw = build();
  const id = acceptedId(await client.sendMail(SENDER, [run.recipient], raw));
  sent.push({ name, id, bytes: raw.length, sha256: sha256(raw) });
}
await client.close();
process.stdout.write(JSON.stringify(sent));
process.stdin.destroy();
