import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { Config } from '../../config/load-config.js';
import { DAY_MS } from '../../domain/instants.js';
import { reasonOf } from '../../lib/async.js';
import { certificatesIn, validityOf } from '../../lib/certificates.js';
import type { CertificateStatus } from '../dependencies.js';
import { error, type Finding, warning, when } from './finding.js';

/** Certificates live for months and are renewed weeks before their end. */
const SOON_DAYS = 14;

const PLAIN = 'Anybody on the way can read and change it, and some senders refuse to send.';

/** Chain, name, key and age of the certificates that the listeners serve, whoever renews them. */
export function checkCertificates(
  config: Config,
  served: readonly CertificateStatus[],
  nowMs: number,
): Finding[] {
  const isMailPlain = !served.some(({ serves }) => serves.includes('smtp'));
  return [
    ...when(isMailPlain, () =>
      warning('no_certificate', {
        what: 'there is no certificate: mail arrives in plain text',
        why: PLAIN,
        fix: 'Set tls.acme = true, or smtp.tls_cert and smtp.tls_key to a certificate for mail.hostname, then restart the daemon.',
      }),
    ),
    ...served.flatMap(one => checkCertificate(config, one, nowMs)),
  ];
}

function checkCertificate(config: Config, served: CertificateStatus, nowMs: number): Finding[] {
  const { file, source, serves } = served;
  if (source === 'acme' && served.state === 'missing') {
    return [
      warning('certificate_not_issued', {
        what: `no certificate has been issued yet${served.error === null ? '' : `: ${served.error.message}`}`,
        why: `Until then one is served that nobody trusts. ${PLAIN}`,
        fix: served.error?.advice ?? 'postern tls issue',
      }),
    ];
  }
  const keyFile =
    source === 'acme' ? file : serves.includes('smtp') ? config.smtp.tlsKey : config.http.tlsKey;
  try {
    const chain = certificatesIn(readFileSync(file, 'latin1'));
    const [leaf] = chain;
    if (leaf === undefined) throw new Error('there is no certificate in it');
    return [
      ...checkAge(served, chain, nowMs),
      ...(serves.includes('smtp') ? checkName(leaf, config.mail.hostname) : []),
      ...checkKey(leaf, keyFile ?? file),
      ...checkChain(file, chain),
    ];
  } catch (reason) {
    return [
      error('certificate_unreadable', {
        what: `${file} cannot be used: ${reasonOf(reason)}`,
        why: 'The daemon does not start with it.',
        fix: 'Put a certificate in PEM form there, with its chain.',
      }),
    ];
  }
}

function checkAge(
  { file, source, failures }: CertificateStatus,
  chain: readonly X509Certificate[],
  nowMs: number,
): Finding[] {
  const endsAt = Math.min(...chain.map(one => validityOf(one).validToMs));
  const days = Math.floor((endsAt - nowMs) / DAY_MS);
  const fix =
    source === 'acme'
      ? 'postern tls status tells why it was not renewed; postern tls renew tries again.'
      : 'Renew it (certbot renew); the daemon takes the new file by itself within a minute.';
  if (endsAt <= nowMs) {
    const why = 'Servers that check it send no mail any more.';
    return [error('certificate_expired', { what: `${file}, or its chain, has expired`, why, fix })];
  }
  // An authority may give days only: there it counts whether the renewal has failed.
  const isLate = source === 'acme' ? failures > 0 && days < SOON_DAYS : days < SOON_DAYS;
  return when(isLate, () =>
    warning('certificate_expires', {
      what: `${file}, or its chain, expires in ${days} days`,
      why: 'A renewal should have come by now: whatever renews it may have failed.',
      fix,
    }),
  );
}

function checkName(leaf: X509Certificate, hostname: string): Finding[] {
  return when(leaf.checkHost(hostname) === undefined, () =>
    error('certificate_name', {
      what: `the certificate is not for mail.hostname, ${hostname}`,
      why: 'Servers that check names (MTA-STS) do not send to this one.',
      fix: `Get a certificate for ${hostname} (certbot certonly -d ${hostname}), or set mail.hostname to a name that it has.`,
    }),
  );
}

function checkKey(leaf: X509Certificate, file: string): Finding[] {
  let isRight = false;
  try {
    isRight = leaf.checkPrivateKey(createPrivateKey(readFileSync(file)));
  } catch {
    // Told as a file that cannot be read, or is no key for it.
  }
  return when(!isRight, () =>
    error('certificate_key', {
      what: `${file} is not the key of the certificate`,
      why: 'The daemon does not start with it, and ignores a renewal that looks so.',
      fix: 'Name the key that the certificate was made with (smtp.tls_key, http.tls_key).',
    }),
  );
}

/** Each certificate signed by the next, up to an authority that is known, or is in the file itself. */
function checkChain(file: string, chain: readonly X509Certificate[]): Finding[] {
  const [leaf] = chain;
  const last = chain.at(-1);
  if (leaf === undefined || last === undefined) return [];
  if (chain.length === 1 && isIssuedBy(leaf, leaf)) {
    return [
      warning('certificate_self_signed', {
        what: `${file} was signed by itself`,
        why: 'Mail is encrypted with it, but servers that check certificates do not send to this one.',
        fix: 'Get one from an authority (certbot certonly), where that matters.',
      }),
    ];
  }
  const isWhole = chain.every((one, at) => one === last || isIssuedBy(one, chain[at + 1] ?? one));
  const isKnown =
    isIssuedBy(last, last) || rootCertificates.some(pem => isIssuedBy(last, new X509Certificate(pem)));
  return when(!isWhole || !isKnown, () =>
    error('certificate_chain', {
      what: `${file} lacks a certificate between that of the server and its authority`,
      why: 'Servers that check certificates cannot follow it, and do not send to this one.',
      fix: 'Name the file with the whole chain (fullchain.pem of certbot) in smtp.tls_cert or http.tls_cert.',
    }),
  );
}

function isIssuedBy(one: X509Certificate, issuer: X509Certificate): boolean {
  return one.checkIssued(issuer) && one.verify(issuer.publicKey);
}
