import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes a self-signed certificate in a folder; the settings that turn STARTTLS on with it. */
export function makeCertificate(folder: string): Record<string, string> {
  const { certFile, keyFile } = makeIdentity(folder, 'DNS:mx.example.org');
  return { POSTERN_SMTP_TLS_CERT: certFile, POSTERN_SMTP_TLS_KEY: keyFile };
}

export interface Identity {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** A self-signed certificate for these names (`DNS:localhost,IP:127.0.0.1`), as `cert.pem` and `key.pem`. */
export function makeIdentity(folder: string, names: string): Identity {
  const keyFile = join(folder, 'key.pem');
  const certFile = join(folder, 'cert.pem');
  const subject = ['-subj', '/CN=mx.example.org', '-addext', `subjectAltName=${names}`];
  const form = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...form, ...subject, '-keyout', keyFile, '-out', certFile], {
    stdio: 'ignore',
  });
  return {
    cert: readFileSync(certFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
    certFile,
    keyFile,
  };
}
