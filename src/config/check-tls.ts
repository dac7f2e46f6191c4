import type { ConfigProblem } from './config-problem.js';
import { isPublicName } from './public-name.js';
import type { SettledValue, SettledValues } from './settle-values.js';

/** Checks rules between the keys of [tls], and those of certificates in [smtp] and [http]. */
export function checkTls(values: SettledValues): (ConfigProblem | null)[] {
  return [
    checkPair(values, 'smtp', 'do without STARTTLS'),
    checkPair(values, 'http', 'do without HTTPS'),
    checkImplicitTls(values),
    checkHttps(values),
    checkTerms(values),
    checkName(values),
    checkUse(values),
    checkPort(values),
  ];
}

function checkPair(values: SettledValues, section: string, without: string): ConfigProblem | null {
  const cert = values.get(`${section}.tls_cert`);
  const key = values.get(`${section}.tls_key`);
  if (cert === undefined || key === undefined || (cert.value === null) === (key.value === null)) return null;
  const half = (set: SettledValue, setName: string, missingName: string): ConfigProblem => ({
    where: set.where,
    what: `${section}.${setName} is set, but ${section}.${missingName} is not`,
    fix: `Set ${section}.${missingName} too, or neither to ${without}.`,
  });
  return cert.value === null ? half(key, 'tls_key', 'tls_cert') : half(cert, 'tls_cert', 'tls_key');
}

function checkImplicitTls(values: SettledValues): ConfigProblem | null {
  const port = values.get('smtp.implicit_tls_port');
  const cert = values.get('smtp.tls_cert');
  const acme = values.get('tls.acme');
  if (port === undefined || cert === undefined || acme === undefined) return null;
  if (port.value === 0 || cert.value !== null || acme.value === true) return null;
  return {
    where: port.where,
    what: 'smtp.implicit_tls_port is set, but there is no certificate to serve it with',
    fix: 'Set smtp.tls_cert and smtp.tls_key too, or leave smtp.implicit_tls_port at 0.',
  };
}

function checkHttps(values: SettledValues): ConfigProblem | null {
  const tls = values.get('http.tls');
  const cert = values.get('http.tls_cert');
  const acme = values.get('tls.acme');
  if (tls === undefined || cert === undefined || acme === undefined) return null;
  if (tls.value === 'files' && cert.value === null) {
    return {
      where: tls.where,
      what: 'http.tls is "files", but http.tls_cert is not set',
      fix: 'Set http.tls_cert and http.tls_key, or http.tls to "acme" or "off".',
    };
  }
  if (tls.value !== 'files' && cert.value !== null) {
    return {
      where: cert.where,
      what: `http.tls_cert is set, but http.tls is "${tls.value}", which does not use it`,
      fix: 'Leave http.tls unset, or remove http.tls_cert and http.tls_key.',
    };
  }
  if (tls.value === 'acme' && acme.value !== true) {
    return {
      where: tls.where,
      what: 'http.tls is "acme", but tls.acme is false: there will be no certificate',
      fix: 'Set tls.acme to true, or http.tls to "off" behind a proxy.',
    };
  }
  return null;
}

function checkTerms(values: SettledValues): ConfigProblem | null {
  const acme = values.get('tls.acme');
  if (acme?.value !== true || values.get('tls.agree_to_terms')?.value !== false) return null;
  return {
    where: acme.where,
    what: 'tls.acme is true, but tls.agree_to_terms is false: the authority issues only to those who agree to its terms of service',
    fix: "Read the terms (Let's Encrypt: https://letsencrypt.org/repository/) and set tls.agree_to_terms to true, or leave tls.acme at false.",
  };
}

function checkName(values: SettledValues): ConfigProblem | null {
  const hostname = values.get('mail.hostname');
  if (values.get('tls.acme')?.value !== true || typeof hostname?.value !== 'string') return null;
  const name = hostname.value;
  if (isPublicName(name)) return null;
  return {
    where: hostname.where,
    what: `mail.hostname is ${JSON.stringify(name)}, which is no name on the Internet: no authority issues a certificate for it`,
    fix: 'Set mail.hostname to the name that the MX records point to, or leave tls.acme at false.',
  };
}

function checkUse(values: SettledValues): ConfigProblem | null {
  const acme = values.get('tls.acme');
  const cert = values.get('smtp.tls_cert');
  const tls = values.get('http.tls');
  if (acme?.value !== true || cert === undefined || tls === undefined) return null;
  if (cert.value === null || tls.value === 'acme') return null;
  return {
    where: acme.where,
    what: 'tls.acme is true, but nothing would serve its certificate: SMTP has smtp.tls_cert, and http.tls is not "acme"',
    fix: 'Remove smtp.tls_cert and smtp.tls_key, or set http.tls to "acme", or leave tls.acme at false.',
  };
}

function checkPort(values: SettledValues): ConfigProblem | null {
  const port = values.get('tls.acme_port');
  if (values.get('tls.acme')?.value !== true || port === undefined || port.value === 0) return null;
  const taken = ['http.port', 'smtp.port', 'smtp.implicit_tls_port'].find(
    id => values.get(id)?.value === port.value,
  );
  if (taken === undefined) return null;
  return {
    where: port.where,
    what: `tls.acme_port is ${port.value}, which is the port of ${taken} too`,
    fix:
      taken === 'http.port'
        ? 'Set tls.acme_port to 0: the HTTP listener answers the authority itself.'
        : `Give ${taken} another port: an authority looks at port 80.`,
  };
}
