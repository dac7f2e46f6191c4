import type { Command } from 'commander';
import { DnsClient } from '../../dns/dns-client.js';
import { normaliseDomain } from '../../domain/addresses.js';
import {
  type DkimRecord,
  domainRecords,
  type HostFacts,
  hostRecords,
  type ZoneRecord,
  zoneLine,
} from '../../domain/zone-records.js';
import { publishedDkimKeys } from '../../usecases/dkim/keys.js';
import { checkDomain, checkHost, isWrong, type RecordCheck } from '../../usecases/dns/check-zone.js';
import type { Box } from '../context.js';
import type { OutgoingTrial } from '../dependencies.js';
import { type Answer, answer, failed } from '../outcome.js';
import { printable } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
DOMAIN is one of mail.domains; without it, the records of all of them are shown. A line that begins with ";" is
advice: that record is not of your zone, or has something to be filled in.
`;

const CHECK_HELP = `
Each record is right, missing or different, or could not be looked up. "unknown" cannot be told from here.
Exit code 1: something is wrong without which mail is not received, or is refused by many.
`;

/** Whose mail servers are tried, to see whether outgoing port 25 is open. */
const TRIED = 'gmail.com';

/** `postern dns`: the records that the DNS has to have. */
export function addDnsCommands(program: Command, cli: Cli): void {
  const dns = program
    .command('dns')
    .description('the DNS records of the mail domains, ready to be pasted into a zone')
    .argument('[domain]', 'one of mail.domains (default: all)')
    .addHelpText('after', HELP)
    .action((domain: string | undefined) => cli.read(box => showRecords(cli, box, domain)));

  dns
    .command('check')
    .description('look the records up, and try whether outgoing port 25 is open')
    .argument('[domain]', 'one of mail.domains (default: all)')
    .option('--try <domain>', 'a domain whose mail servers are tried', TRIED)
    .addHelpText('after', CHECK_HELP)
    .action((domain: string | undefined, { try: tried }: { try: string }) =>
      cli.read(box => checkRecords(cli, box, domain, tried)),
    );
}

interface Shown {
  readonly domain: string;
  readonly dkim: readonly DkimRecord[];
}

function domainsOf(box: Box, domain: string | undefined): Shown[] {
  const { domains } = box.config.mail;
  const wanted = domain === undefined ? domains : [(normaliseDomain(domain) ?? domain).replace(/\.$/, '')];
  return wanted.map(one => {
    if (!domains.includes(one)) {
      throw failed('not_found', `${one} is not one of mail.domains, which are ${domains.join(', ')}.`);
    }
    return { domain: one, dkim: publishedDkimKeys(box, one) };
  });
}

async function showRecords(cli: Cli, box: Box, domain: string | undefined): Promise<Answer> {
  const { transport } = box.config.relay;
  const shown = domainsOf(box, domain);
  const facts = await factsOf(cli, box);
  const { hostname, addresses } = facts;
  const host = hostRecords(facts);
  const perDomain = shown.map(one => ({
    ...one,
    records: domainRecords({ ...facts, ...one }),
  }));
  const groups = [
    {
      title: `${hostname}: this server`,
      lines: [...unknownAddress(hostname, addresses), ...host.map(lineOf)],
    },
    ...perDomain.map(one => ({
      title: `${one.domain}: mail domain`,
      lines: [...one.records.map(lineOf), ...adviceFor(one, transport)],
    })),
  ];
  const text = groups
    .map(({ title, lines }) => `; ${title}\n${lines.map(line => `${line}\n`).join('')}`)
    .join('\n');
  return answer({ records: [...host, ...perDomain.flatMap(({ records }) => records)].map(documentOf) }, text);
}

async function factsOf(cli: Cli, { config }: Box): Promise<HostFacts> {
  const { hostname, domains } = config.mail;
  const outside = await cli.deps.outside();
  const addresses = await outside.addresses(config);
  return { hostname, addresses, transport: config.relay.transport, mailDomains: domains };
}

/** A PTR record is not of a zone of ours. */
function lineOf(record: ZoneRecord): string {
  return record.type === 'PTR'
    ? `; ${zoneLine(record)}\n;   set by whoever gave you this address; large receivers refuse mail without it`
    : zoneLine(record);
}

function unknownAddress(hostname: string, addresses: readonly string[]): string[] {
  if (addresses.length > 0) return [];
  return [`; ${hostname}. 3600 IN A <the public address of this machine, which it does not know itself>`];
}

function adviceFor({ domain, dkim }: Shown, transport: string): string[] {
  const spf =
    transport === 'smarthost'
      ? ['; Add to v=spf1 what the operator of your smarthost tells you to include.']
      : [];
  return dkim.length > 0 ? spf : [...spf, `; There is no DKIM key for ${domain} yet.`];
}

function documentOf({ kind, name, type, value, isEssential }: ZoneRecord) {
  return { kind, name, type, value, essential: isEssential };
}

async function checkRecords(cli: Cli, box: Box, domain: string | undefined, tried: string): Promise<Answer> {
  const { relay } = box.config;
  const shown = domainsOf(box, domain);
  const dns = new DnsClient(box.config.dns);
  try {
    const checks = await checkZones(cli, box, dns, shown);
    const outside = await cli.deps.outside();
    const outgoing = await outside.tryOutgoing(box.config, dns, tried);
    const dane = await daneWords(dns);
    return outcomeOf(checks, outgoing, dane, relay.transport === 'direct', keyless(shown));
  } finally {
    dns.close();
  }
}

async function checkZones(
  cli: Cli,
  box: Box,
  dns: DnsClient,
  shown: readonly Shown[],
): Promise<RecordCheck[]> {
  const facts = await factsOf(cli, box);
  const host = await checkHost(dns, facts);
  const domains = await Promise.all(shown.map(one => checkDomain(dns, { ...facts, ...one })));
  return [...host, ...domains.flat()];
}

/** What the DNS has of this server and all mail domains, and whether mail can leave. */
export async function lookAtDns(cli: Cli, box: Box, tried = TRIED) {
  const shown = domainsOf(box, undefined);
  const dns = new DnsClient(box.config.dns);
  try {
    const checks = await checkZones(cli, box, dns, shown);
    const isDirect = box.config.relay.transport === 'direct';
    const outside = await cli.deps.outside();
    const outgoing = isDirect ? await outside.tryOutgoing(box.config, dns, tried) : null;
    return { checks, outgoing, keyless: keyless(shown) };
  } finally {
    dns.close();
  }
}

function keyless(shown: readonly Shown[]): string[] {
  return shown.filter(({ dkim }) => dkim.length === 0).map(({ domain }) => domain);
}

interface Dane {
  readonly in_play: boolean;
  readonly detail: string;
}

/** Any zone that has been signed for long serves to see whether the resolver validates. */
const SIGNED_ZONE = 'org';

async function daneWords(dns: DnsClient): Promise<Dane> {
  if (!dns.trustsAResolver) {
    return {
      in_play: false,
      detail: 'no resolver runs on this machine, and dns.trust_ad is false',
    };
  }
  const answer = await dns.lookup(SIGNED_ZONE, 'TXT');
  if (answer.kind === 'failed') return { in_play: false, detail: answer.reason };
  return answer.isAuthentic
    ? { in_play: true, detail: 'the resolver validates answers (DNSSEC)' }
    : { in_play: false, detail: 'the resolver does not validate answers (DNSSEC)' };
}

function outcomeOf(
  checks: readonly RecordCheck[],
  outgoing: OutgoingTrial,
  dane: Dane,
  sendsItself: boolean,
  withoutKey: readonly string[],
): Answer {
  const isClosed = sendsItself && outgoing.status === 'closed';
  const isAllRight = !isClosed && !checks.some(isWrong);
  const document = {
    ok: isAllRight,
    records: checks.map(({ record, status, found, note }) => ({
      ...documentOf(record),
      status,
      found,
      note,
    })),
    outgoing_port: outgoing,
    dane,
  };
  const text = [
    ...checks.map(renderCheck),
    ...withoutKey.map(domain => `There is no DKIM key for ${domain} yet.\n`),
    `Outgoing port 25: ${outgoing.status}, ${printable(outgoing.detail)}\n`,
    `DANE: ${dane.in_play ? 'in play' : 'not in play'}, ${printable(dane.detail)}\n`,
  ].join('');
  if (isAllRight) return answer(document, text);
  throw failed('dns_wrong', `something essential is wrong:\n${text}${nextSteps(checks, isClosed)}`, document);
}

function nextSteps(checks: readonly RecordCheck[], isClosed: boolean): string {
  const has = (...wanted: RecordCheck['status'][]): boolean =>
    checks.some(({ status }) => wanted.includes(status));
  return [
    ...(has('missing', 'different')
      ? [
          'Publish what is missing or different ("postern dns" prints it), and check again once the zone is served.',
        ]
      : []),
    ...(has('failed')
      ? [
          'What failed could not be looked up: see to the resolvers (dns.servers, else /etc/resolv.conf), and check again.',
        ]
      : []),
    ...(isClosed
      ? [
          'Outgoing port 25 is closed: ask the provider of this machine to open it, or send through a smarthost.',
        ]
      : []),
  ].join('\n');
}

function renderCheck(check: RecordCheck): string {
  const { record, status, found, note } = check;
  const head = `${status.padEnd(9)}  ${record.name} ${record.type}${isWrong(check) ? '  (essential)' : ''}\n`;
  if (status === 'right' && note === null) return head;
  const detail = (name: string, value: string) => `           ${name.padEnd(8)}  ${printable(value)}\n`;
  return [
    head,
    detail('expected', record.value),
    ...found.map(one => detail('found', one)),
    ...(note === null ? [] : [detail('note', note)]),
  ].join('');
}
