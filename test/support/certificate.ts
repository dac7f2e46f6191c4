import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Makes a self-signed certificate in a folder; the settings that turn STARTTLS on with it. */
export function makeCertificate(folder: string): Record<string, string> {
  const key = join(folder, 'key.pem');
  const cert = join(folder, 'cert.pem');
  const subject = ['-subj', '/CN=mx.example.org', '-addext', 'subjectAltName=DNS:mx.example.org'];
  const form = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...form, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { POSTERN_SMTP_TLS_CERT: cert, POSTERN_SMTP_TLS_KEY: key };
}
