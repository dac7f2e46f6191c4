import { replacesMessageIds } from '../domain/assigned-ids.js';
import { derivedKey, key, optionalKey, section } from './key.js';
import { ipAddress, network, remoteHost, resolverAddress } from './net-types.js';
import { boolean, integer, listOf, oneOf, path, text } from './value-types.js';

/** The keys of sending; `keys.ts` has all the others. */
export const RELAY = section('How mail that agents send is handed over.', {
  transport: key(
    oneOf(['local', 'smarthost', 'direct']),
    'local',
    'local: inboxes of this service only, all other recipients are rejected; smarthost: these through the server of [relay.smarthost]; direct: this service delivers to the mail servers of each domain itself.',
  ),
  response_timeout_s: key(
    integer({ min: 1, max: 300 }),
    30,
    'Seconds that a request waits for the outcome of its message; then it answers "unknown", and the outcome is saved when it comes.',
  ),
  dkim: key(
    boolean(),
    false,
    'Whether mail that goes through the smarthost is signed with the DKIM keys of its domain; their records have to be in the DNS, as "postern dkim list" shows them.',
  ),
  smarthost: section('The server that takes mail to others; used with transport = "smarthost".', {
    host: optionalKey(
      remoteHost(),
      'smtp.example.com',
      'Name of the server, for which its certificate must be valid.',
    ),
    port: derivedKey(
      integer({ min: 1, max: 65535 }),
      {
        placeholder: 0,
        from: '587 with tls = "starttls", 465 with "implicit", 25 with "none"',
        example: 2525,
        derive: (_facts, textOf) => defaultSubmissionPort(textOf('relay.smarthost.tls')),
      },
      'Port of the server; 0 means the default.',
    ),
    tls: key(
      oneOf(['starttls', 'implicit', 'none']),
      'starttls',
      'starttls: begins in plain text and insists on TLS; implicit: begins with TLS; none: plain text, for a server on the same machine or network.',
    ),
    user: optionalKey(
      text({ maxLength: 254 }),
      'postern@example.com',
      'User name for AUTH; goes with password_file.',
    ),
    password_file: optionalKey(
      path(),
      '/etc/postern/smarthost-password',
      'File that holds the password of user and nothing else; it is read anew for each connection.',
    ),
    ca_file: optionalKey(
      path(),
      '/etc/postern/smarthost-ca.pem',
      'Certification authorities in PEM form that are trusted for this server instead of the well-known ones.',
    ),
    max_connections: key(integer({ min: 1, max: 100 }), 5, 'Connections to the server at the same time.'),
    keeps_message_id: derivedKey(
      boolean(),
      {
        placeholder: null,
        from: 'the host: Amazon SES does not, so for its hosts it is false',
        example: false,
        derive: (_facts, textOf) => !replacesMessageIds(textOf('relay.smarthost.host') ?? ''),
      },
      'Whether the server leaves the Message-ID of a message as it is; with false, conversations also go by the id that its reply tells.',
    ),
  }),
  direct: section('Delivery to the mail servers of each domain; used with transport = "direct".', {
    max_age_h: key(
      integer({ min: 1, max: 720 }),
      48,
      'Hours for which a message that nobody takes is tried again; then its sender is told that it is given up.',
    ),
    max_connections: key(
      integer({ min: 1, max: 1000 }),
      50,
      'Connections to mail servers at the same time; ten at most to one server.',
    ),
    port: key(
      integer({ min: 1, max: 65535 }),
      25,
      'Port at which mail servers are reached; all of the Internet listens on port 25.',
    ),
    tls: key(
      oneOf(['opportunistic', 'require']),
      'opportunistic',
      'opportunistic: TLS where a server offers it, else plain text; require: no delivery without TLS. Domains that ask for more (MTA-STS, DANE) get it with both.',
    ),
    ipv6: key(
      oneOf(['auto', 'on', 'off']),
      'auto',
      'Whether mail servers are reached over IPv6; auto: where the PTR record of this machine names it, as large receivers demand.',
    ),
    source_address: key(
      listOf(ipAddress()),
      [],
      'Addresses of this machine from which to deliver, at most one IPv4 and one IPv6; empty, the system chooses.',
      { example: ['192.0.2.25', '2001:db8::25'] },
    ),
    allow_networks: key(
      listOf(network()),
      [],
      'Private and reserved networks that mail may lead into all the same; else none, so that no domain of an agent reaches into your network.',
      { example: ['10.1.2.0/24'] },
    ),
  }),
});

export const DNS = section('The resolvers that are asked for mail servers and their records.', {
  servers: key(
    listOf(resolverAddress()),
    [],
    'Resolvers in the order in which they are asked, three at most; empty, they are those of /etc/resolv.conf.',
    { example: ['127.0.0.1:5353'] },
  ),
  trust_ad: key(
    boolean(),
    false,
    'Whether to believe a resolver beyond this machine that an answer was validated (DNSSEC), on which DANE depends; only where nobody can change answers on the way.',
  ),
});

/** RFC 6409 section 3.1, RFC 8314 section 3.3. Null for an invalid value of `tls`, which is reported by itself. */
function defaultSubmissionPort(tls: string | null): number | null {
  return (
    new Map([
      ['starttls', 587],
      ['implicit', 465],
      ['none', 25],
    ]).get(tls ?? '') ?? null
  );
}
