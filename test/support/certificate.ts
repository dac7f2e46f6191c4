import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
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

export interface ChainedIdentity extends Identity {
  /** PEM of the authority that signed it; `cert` has it too, behind the certificate of the server. */
  readonly authority: string;
  /** PEM of the certificate of the server alone. */
  readonly leaf: string;
}

/** An authority, and a certificate that it has signed for these names, valid for so many days from now on. */
export function makeChain(folder: string, names: string, days = 2): ChainedIdentity {
  const inFolder = (name: string): string => join(folder, name);
  const run = (...args: readonly string[]): void => {
    execFileSync('openssl', args, { stdio: 'ignore' });
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = [
    '-subj',
    '/CN=Test authority',
    '-keyout',
    inFolder('ca-key.pem'),
    '-out',
    inFolder('ca.pem'),
  ];
  run('req', '-x509', ...newKey, '-days', String(Math.max(days, 2) + 1), ...authority);
  run(
    'req',
    ...newKey,
    '-subj',
    '/CN=server',
    '-keyout',
    inFolder('key.pem'),
    '-out',
    inFolder('request.pem'),
  );
  // Without the identifier of the authority's key, a namesake of the authority looks like the issuer too.
  writeFileSync(inFolder('extensions'), `subjectAltName=${names}\nauthorityKeyIdentifier=none\n`);
  const signing = ['-CA', inFolder('ca.pem'), '-CAkey', inFolder('ca-key.pem'), '-days', String(days)];
  const files = [
    '-in',
    inFolder('request.pem'),
    '-out',
    inFolder('leaf.pem'),
    '-extfile',
    inFolder('extensions'),
  ];
  run('x509', '-req', ...files, ...signing);
  const [leaf, ca] = ['leaf.pem', 'ca.pem'].map(name => readFileSync(inFolder(name), 'utf8')) as [
    string,
    string,
  ];
  const certFile = inFolder('cert.pem');
  writeFileSync(certFile, leaf + ca);
  const keyFile = inFolder('key.pem');
  return { cert: leaf + ca, leaf, authority: ca, key: readFileSync(keyFile, 'utf8'), certFile, keyFile };
}
