import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { warmUp } from '../abuse/warm-up.js';
import { createAgent } from '../support/box/agents.js';
import { PosternBox } from '../support/box/postern-box.js';
import { certificate } from '../unit/smtp/tls/test-certificate.js';

/** A daemon with short deadlines and a certificate, warmed up, and its one inbox. */
export async function startFuzzBox(t: Test): Promise<{ box: PosternBox; address: string }> {
  const box = PosternBox.create(t, {
    env: {
      POSTERN_SMTP_IDLE_TIMEOUT_S: '3',
      POSTERN_SMTP_MAX_MESSAGE_BYTES: String(256 * 1024),
    },
  });
  const cert = join(box.folder, 'cert.pem');
  const key = join(box.folder, 'key.pem');
  writeFileSync(cert, certificate.cert);
  writeFileSync(key, certificate.key);
  Object.assign(box.env, { POSTERN_SMTP_TLS_CERT: cert, POSTERN_SMTP_TLS_KEY: key });
  await box.start();
  const agent = await createAgent(box);
  await warmUp(box, agent);
  return { box, address: agent.address };
}
