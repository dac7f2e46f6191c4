import { derivedKey, key, optionalKey, section } from './key.js';
import { issuerUrl, listenHost } from './net-types.js';
import { boolean, emailAddress, integer, oneOf, path } from './value-types.js';

/** The keys of the certificate that the service gets itself. */
export const TLS = section(
  'A certificate that the service gets and renews itself, from an authority that speaks ACME (RFC 8555).',
  {
    acme: key(
      boolean(),
      false,
      'Whether to get one, for mail.hostname and the host of service.public_url; it is served by SMTP, and by HTTP with http.tls = "acme".',
    ),
    agree_to_terms: key(
      boolean(),
      false,
      'Whether you agree to the terms of service of the authority, which will not issue otherwise; those of the default one: https://letsencrypt.org/repository/.',
    ),
    contact_email: optionalKey(
      emailAddress(),
      'you@example.com',
      'Where the authority may write to you; best not an address of this service.',
    ),
    directory_url: key(
      issuerUrl(),
      'https://acme-v02.api.letsencrypt.org/directory',
      'Directory of the authority. To try settings, take https://acme-staging-v02.api.letsencrypt.org/directory: its certificates are trusted by nobody, and its limits are wide.',
    ),
    acme_host: derivedKey(
      listenHost(),
      {
        placeholder: '',
        from: 'every address of the machine, IPv6 included where there is IPv6',
        example: '192.0.2.25',
        derive: facts => (facts.hasIpv6 ? '::' : '0.0.0.0'),
      },
      'Address at which the authority fetches its proof.',
    ),
    acme_port: key(
      integer({ min: 0, max: 65535 }),
      80,
      'Port for that; an authority looks at port 80 only, so another one needs a redirection of ports. 0: none is opened, and a proxy that has port 80 passes /.well-known/acme-challenge/ on to http.port.',
    ),
  },
);

/** Of [http]: whether it speaks HTTPS itself. */
export const HTTP_TLS = {
  tls: derivedKey(
    oneOf(['off', 'files', 'acme']),
    {
      placeholder: '',
      from: '"files" with tls_cert, else "off"',
      example: 'files',
      derive: (_facts, textOf) => (textOf('http.tls_cert') === null ? 'off' : 'files'),
    },
    'Whether it speaks HTTPS itself, so that no proxy is needed; files: with tls_cert and tls_key; acme: with the certificate of [tls]; off: plain HTTP, for a proxy on the same machine.',
  ),
  tls_cert: optionalKey(
    path(),
    '/etc/postern/tls/fullchain.pem',
    'Certificate chain in PEM form, for HTTPS; it goes with tls_key, and both are read again when they change.',
  ),
  tls_key: optionalKey(path(), '/etc/postern/tls/privkey.pem', 'Private key of tls_cert, in PEM form.'),
};
