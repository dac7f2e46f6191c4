import { attributionLine } from '../domain/text.js';
import { derivedKey, key, optionalKey, requiredKey, section } from './key.js';
import { baseUrl, hostName, issuerUrl, listenHost, network, port, redisUrl, webUrl } from './net-types.js';
import { DNS, RELAY } from './relay-keys.js';
import { HTTP_TLS, TLS } from './tls-keys.js';
import {
  boolean,
  inboxAddress,
  integer,
  listOf,
  localPart,
  mailDomain,
  number,
  oneOf,
  path,
  text,
} from './value-types.js';

/**
 * Every configuration key, declared once. Its names in TOML and in the environment, its check, the type `Config`, the
 * example file and `postern config explain` are all made from this. The order is the one in which operators read it.
 * The keys of sending are in `relay-keys.ts`.
 */
export const KEYS = {
  service: section('What agents and their humans are told about this service.', {
    name: key(
      text({ minLength: 1, maxLength: 64 }),
      'Postern',
      'Name of the service, as agents and humans see it.',
    ),
    public_url: key(
      baseUrl(),
      'http://localhost:8025',
      'Address at which agents and humans reach the HTTP listener; links are built on it.',
    ),
    attribution: derivedKey(
      text({ minLength: 1, maxLength: 200 }),
      {
        placeholder: '',
        from: '"Sent via" and the name of the service',
        example: 'Sent by an agent of Example Ltd',
        derive: (_facts, textOf) => {
          const name = textOf('service.name');
          return name === null ? null : attributionLine(name);
        },
      },
      'Line at the end of every message that is sent.',
    ),
    increase_request: key(
      text({ minLength: 1, maxLength: 1000 }),
      'Ask the operator of this service.',
      'Tells an agent that has used up an allowance how to ask for more.',
    ),
    policy_url: derivedKey(
      webUrl(),
      {
        placeholder: '',
        from: 'public_url followed by /policy, a page that the service serves itself',
        example: 'https://example.com/acceptable-use',
        derive: (_facts, textOf) => {
          const publicUrl = textOf('service.public_url');
          return publicUrl === null ? null : `${publicUrl}/policy`;
        },
      },
      'Page with the rules of use, shown to an agent that has used up an allowance.',
    ),
  }),

  mail: section('The addresses this service answers for.', {
    domains: requiredKey(
      listOf(mailDomain(), { minItems: 1 }),
      ['agents.example.com'],
      'Domains of the inboxes; a new inbox is in the first one unless another is asked for.',
    ),
    hostname: derivedKey(
      hostName(),
      {
        placeholder: '',
        from: "the system's host name",
        example: 'mail.example.com',
        derive: facts => facts.hostname,
      },
      'Name with which the SMTP listener greets; the MX record of each mail domain should point to it.',
    ),
    postmaster_inbox: optionalKey(
      inboxAddress(),
      'operator@agents.example.com',
      'Inbox that gets mail to postmaster@ and abuse@; unset, it is the postmaster inbox of the operator account.',
    ),
    reserved_local_parts: key(
      listOf(localPart()),
      [],
      'Local parts that no inbox may have, besides postmaster, abuse and the others that are always reserved.',
      { example: ['billing', 'ceo'] },
    ),
  }),

  store: section('Where mail is kept.', {
    path: key(path(), '/var/lib/postern', 'Data folder; it holds everything there is to back up.'),
    map_size_gib: key(
      number({ min: 0.03125, max: 65536 }),
      128,
      'Size of the store, in GiB, near which mail is refused for the time being; address space, not disk space.',
    ),
    disk_floor_mib: key(
      integer({ min: 1, max: 1048576 }),
      256,
      'Free disk space, in MiB, below which nothing new is stored for the time being, save in the place of what was deleted.',
    ),
    upgrade_without_copy: key(
      boolean(),
      false,
      'Whether a newer program may upgrade the store without copying it to backups/ first; for a disk without the room for it. Keep a backup elsewhere.',
    ),
  }),

  smtp: section('The listener that mail arrives at.', {
    host: derivedKey(
      listenHost(),
      {
        placeholder: '',
        from: 'every address of the machine, IPv6 included where there is IPv6',
        example: '192.0.2.25',
        derive: facts => (facts.hasIpv6 ? '::' : '0.0.0.0'),
      },
      'Address to listen on.',
    ),
    port: key(port(), 25, 'Port to listen on; other mail servers know only port 25.'),
    implicit_tls_port: key(
      port(),
      0,
      'Second port, where TLS comes first, for senders of your own that insist on it; needs a certificate; 0 is none.',
    ),
    max_message_bytes: key(
      // RFC 5321 section 4.5.3.1.7: a server must be able to take 64 KiB.
      integer({ min: 65536, max: 268435456 }),
      26214400,
      'Largest message accepted, in bytes as transmitted; it is announced with SIZE.',
    ),
    max_clients: key(
      integer({ min: 1, max: 100000 }),
      1000,
      'Connections served at the same time; when they run short, the slowest give way and no network gets more than a quarter.',
    ),
    max_clients_per_address: key(
      integer({ min: 1, max: 100000 }),
      50,
      'Connections served at the same time for one IPv4 address or one IPv6 /64.',
    ),
    idle_timeout_s: key(
      integer({ min: 1, max: 3600 }),
      300,
      'Seconds of silence after which a connection is closed; RFC 5321 asks for at least 300.',
    ),
    tls_cert: optionalKey(
      path(),
      '/etc/postern/tls/fullchain.pem',
      'Certificate chain in PEM form; with tls_key it turns STARTTLS on. Unset, the certificate of [tls] is served, if there is to be one.',
    ),
    tls_key: optionalKey(path(), '/etc/postern/tls/privkey.pem', 'Private key of tls_cert, in PEM form.'),
  }),

  inbound: section('Who has written mail that comes in (SPF, DKIM, DMARC, ARC), and what follows from it.', {
    unauthenticated: key(
      oneOf(['accept', 'reject']),
      'accept',
      'reject: mail that fails DMARC is refused where the domain in From asks for that (p=reject); accept: everything is taken, and its verdict is shown.',
    ),
    dns_timeout_s: key(
      integer({ min: 0, max: 10 }),
      5,
      'Seconds that the DNS may take in all to find out who has written a message; 0: it is not looked for, and every verdict is unknown.',
    ),
    trusted_sealers: key(
      listOf(mailDomain()),
      [],
      'Mailing lists and forwarders that are believed, by the domain of their ARC seal: what passed DMARC when it came to them is not refused.',
      { example: ['lists.example.org'] },
    ),
  }),

  http: section('The listener for the API.', {
    host: key(
      listenHost(),
      '127.0.0.1',
      'Address to listen on; the default is reached through a reverse proxy on the same machine.',
    ),
    port: key(port(), 8025, 'Port to listen on.'),
    ...HTTP_TLS,
    max_clients: key(
      integer({ min: 1, max: 100000 }),
      2000,
      'Connections served at the same time; in a full house, one without a request gives way to a new one.',
    ),
    max_clients_per_address: key(
      integer({ min: 1, max: 100000 }),
      500,
      'Connections served at the same time for one IPv4 address or one IPv6 /64; a trusted proxy may have all.',
    ),
    trusted_proxies: key(
      listOf(network()),
      [],
      'Reverse proxies whose X-Forwarded-For tells the address of a client; without them all clients behind a proxy share one limit.',
      { example: ['127.0.0.1', '::1'] },
    ),
  }),

  mcp: section('The tools that agents call by the Model Context Protocol, at /mcp of the HTTP listener.', {
    allow_erase: key(
      boolean(),
      false,
      'Whether there are tools that delete a message for good (erase_message, erase_sent_message); one sentence in a hostile mail may talk an agent into calling them.',
    ),
  }),
  tls: TLS,

  signup: section('Who may get access for an agent, and how a human shows who they are.', {
    policy: key(
      oneOf(['closed', 'domains', 'open']),
      'closed',
      'closed: only email addresses of accounts that exist; domains: also every address in domains; open: everybody.',
    ),
    domains: key(
      listOf(mailDomain()),
      [],
      'Domains whose email addresses get an account when they ask; those of mail.domains are ignored, where agents could approve themselves.',
      { example: ['example.com'] },
    ),
    oidc: section('Sign-in with an OpenID Connect provider, in place of a link by mail.', {
      issuer: optionalKey(
        issuerUrl(),
        'https://login.example.com',
        'Issuer as the provider writes it; it must assert email, email_verified and auth_time; redirect URI: public_url followed by /approve/oidc/callback.',
      ),
      client_id: optionalKey(
        text({ minLength: 1, maxLength: 256 }),
        'postern',
        'Client id that the provider gave to this service.',
      ),
      client_secret_file: optionalKey(
        path(),
        '/etc/postern/oidc-secret',
        'File with the secret of that client; unset, the client has none.',
      ),
      name: optionalKey(
        text({ minLength: 1, maxLength: 64 }),
        'Example Login',
        'What humans call the provider, for the button; unset, it is the host of the issuer.',
      ),
      own_domains: key(
        boolean(),
        false,
        'Whether a sign-in with an address in mail.domains counts; only for a provider that gives these addresses to humans itself, not one that verifies them by a mail.',
      ),
    }),
  }),

  audit: section('The trail of who asked for access, approved it and got it.', {
    retention_days: key(integer({ min: 1, max: 3650 }), 400, 'Days for which it is kept; then it is erased.'),
  }),

  redis: section(
    'The queue between accepting mail and preparing it; it carries ids and may be lost at any time.',
    {
      mode: key(
        oneOf(['managed', 'external']),
        'managed',
        'managed: the daemon runs its own redis-server in the data folder; external: it connects to url.',
      ),
      url: optionalKey(
        redisUrl(),
        'redis://:password@redis.example.com:6379/0',
        'The external Redis; it must run with maxmemory-policy noeviction.',
      ),
    },
  ),

  parse: section('Preparing the content of accepted mail, in worker threads with limits.', {
    workers: derivedKey(
      integer({ min: 0, max: 64 }),
      {
        placeholder: 0,
        from: 'one less than the processor cores, at least one',
        example: 2,
        derive: facts => Math.min(64, Math.max(1, facts.cores - 1)),
      },
      'Worker threads; 0 means the default. With one, a second is started for small messages while a large one is parsed.',
    ),
    timeout_s: key(
      integer({ min: 1, max: 3600 }),
      60,
      'Seconds after which one message is given up and marked failed; its raw bytes stay.',
    ),
    memory_mib: key(integer({ min: 64, max: 16384 }), 256, 'Heap of one worker, in MiB.'),
    tries: key(
      integer({ min: 1, max: 100 }),
      3,
      'Attempts for a message whose worker dies, before it is marked failed.',
    ),
  }),

  relay: RELAY,

  dns: DNS,

  limits: section('Allowances of an account for which nothing else was granted.', {
    inboxes: key(integer({ min: 0, max: 1000000 }), 2, 'Inboxes that an account may have.'),
    sends: key(
      integer({ min: 0, max: 1000000 }),
      25,
      'Recipients that an account may send to in any 24 hours; every To, Cc and Bcc entry counts.',
    ),
    storage_mib: key(
      integer({ min: 0, max: 1000000 }),
      2048,
      'MiB that an account may store: its mail, Trash included, drafts and feedback; beyond it mail to it is refused for the time being, and it can save and send nothing.',
    ),
  }),

  webhooks: section('Endpoints of agents that are told of events by HTTP.', {
    allow_http: key(
      boolean(),
      false,
      'Whether their URLs may begin with http://; what is sent there, subjects and senders, travels in plain text.',
    ),
    allow_networks: key(
      listOf(network()),
      [],
      'Private and reserved networks, and addresses of this machine, that they may be in; else none, so that no agent reaches into your network.',
      { example: ['127.0.0.1', '10.1.2.0/24'] },
    ),
  }),

  trash: section('Messages that were moved to Trash.', {
    retention_days: key(
      integer({ min: 1, max: 3650 }),
      7,
      'Days for which a message in Trash can be restored; then it is erased.',
    ),
  }),

  admin: section('Figures for whoever looks after the machine, in the format of Prometheus, at /metrics.', {
    host: key(
      listenHost(),
      '127.0.0.1',
      'Address to listen on; anybody who reaches it reads the figures, in which there is no mail.',
    ),
    port: key(port(), 0, 'Port to listen on, such as 9125; 0 is none.'),
  }),

  log: section('What the daemon writes to standard output.', {
    level: key(
      oneOf(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']),
      'info',
      'Least severity that is written.',
    ),
  }),
};
