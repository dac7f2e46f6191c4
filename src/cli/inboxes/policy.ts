import type { Command } from 'commander';
import { MAX_POLICY_ENTRIES } from '../../contract/limits.js';
import type { AuthorRequirement } from '../../domain/author-rules.js';
import type { PolicyKind } from '../../store/records/inboxes.js';
import {
  type AdminPolicy,
  type PolicyChange,
  readAdminPolicy,
  setPolicy,
} from '../../usecases/inboxes/policies.js';
import { everyValue } from '../arguments.js';
import type { Box } from '../context.js';
import { noSuchInbox } from '../named.js';
import { type Answer, answerWith, failed, orMissing } from '../outcome.js';
import { printable } from '../output.js';
import type { Cli } from '../run-command.js';

interface SetOptions {
  readonly enable?: true;
  readonly address?: readonly string[];
  readonly domain?: readonly string[];
  readonly clearAddresses?: true;
  readonly clearDomains?: true;
  readonly requireAuthentication?: boolean;
  readonly fromAddress?: readonly string[];
  readonly fromDomain?: readonly string[];
}

const MATCHING = `
An entry is an exact address or an exact domain, up to ${MAX_POLICY_ENTRIES} of each. What stands before the @ is compared with its
letter case, dots and +tags, the domain in any letter case; subdomains are not meant with it, names do not count.
`;

const SETTING = `
What is not given stays: --address replaces the saved addresses and leaves the domains, --domain the other way
round, --enable alone turns the saved lists on. Without --enable the lists are saved and the rules stay on or off
as they are; "disable" turns them off and keeps the lists. Each change is a new revision and holds at once.
`;

const REQUIREMENT = `
--require-authentication takes only mail whose author is proven: DMARC passes, or the domain of From publishes none and
SPF or DKIM passes for it. --from-address and --from-domain narrow that to these authors; without them it is anybody
again. Mail between inboxes of this box is proven, but must be of these authors too. Other mail is refused (550 5.7.1);
where the DNS does not answer, the sender is asked to try again (451 4.7.5), for all recipients of that message. Delivery
reports about messages from this inbox, and mail to postmaster@ and abuse@, are always taken. It holds with and without
--enable, and agents are not shown it; --no-require-authentication ends it.
`;

const KINDS = {
  sending: {
    title: 'whom an inbox may send to',
    help: 'Enabled, every To, Cc and Bcc of a message must match an entry; with no entries nothing can be sent.',
  },
  receiving: {
    title: 'whom an inbox takes no mail from',
    help: `Enabled, mail whose visible From matches an entry is refused and no copy is kept; with no entries nothing is.
Mail to postmaster@ and abuse@ is always taken. Mail that was received before stays.`,
  },
} as const;

/** `postern policy`: the sending and receiving rules of inboxes. */
export function addPolicyCommands(program: Command, cli: Cli): void {
  const policy = program
    .command('policy')
    .description('rules: whom inboxes may send to and take no mail from');
  for (const kind of ['sending', 'receiving'] as const) addKind(policy, cli, kind);
}

function addKind(policy: Command, cli: Cli, kind: PolicyKind): void {
  const { title, help } = KINDS[kind];
  const rules = policy
    .command(kind)
    .description(`${kind} rules: ${title}`)
    .addHelpText('after', `\n${help}\n${MATCHING.slice(1)}`);

  rules
    .command('show')
    .description(`show ${title}`)
    .argument('<inbox>', 'address or id')
    .addHelpText('after', `\n${help}\n`)
    .action((named: string) => cli.read(box => show(box, kind, named)));

  const setter = rules
    .command('set')
    .description(`change ${title}`)
    .argument('<inbox>', 'address or id')
    .option('--enable', 'turn the rules on')
    .option('--address <address>', 'an address; repeat it for more. Replaces all saved addresses', everyEntry)
    .option('--domain <domain>', 'a domain; repeat it for more. Replaces all saved domains', everyEntry)
    .option('--clear-addresses', 'save no addresses')
    .option('--clear-domains', 'save no domains')
    .addHelpText(
      'after',
      `\n${help}\n${MATCHING.slice(1)}${SETTING}${kind === 'receiving' ? REQUIREMENT : ''}`,
    )
    .action((named: string, options: SetOptions) => cli.change(box => set(box, kind, named, options)));
  if (kind === 'receiving') addRequirement(setter);

  rules
    .command('disable')
    .description('turn the rules off; the lists stay saved')
    .argument('<inbox>', 'address or id')
    .action((named: string) => cli.change(box => save(box, kind, named, { enabled: false })));
}

function addRequirement(setter: Command): void {
  setter
    .option('--require-authentication', 'take only mail whose author is proven')
    .option('--no-require-authentication', 'take mail whether its author is proven or not')
    .option('--from-address <address>', 'and is this one; repeat it for more', everyEntry)
    .option('--from-domain <domain>', 'and is in this domain; repeat it for more', everyEntry);
}

/** Collects a repeatable option; undefined when it is absent, and then the list is not replaced. */
function everyEntry(value: string, before: readonly string[] | undefined): readonly string[] {
  return everyValue(value, before ?? []);
}

async function show(box: Box, kind: PolicyKind, named: string): Promise<Answer> {
  const policy = await orMissing(noSuchInbox(named), () => readAdminPolicy(box, named, kind));
  return answerWith(policy, found => renderPolicy(kind, found));
}

async function set(box: Box, kind: PolicyKind, named: string, options: SetOptions): Promise<Answer> {
  const { enable, address, domain, clearAddresses, clearDomains } = options;
  if ((address !== undefined && clearAddresses) || (domain !== undefined && clearDomains)) {
    throw failed('usage', 'A list is either given or cleared, not both.');
  }
  const { requireAuthentication, fromAddress, fromDomain } = options;
  if (requireAuthentication !== true && (fromAddress ?? fromDomain) !== undefined) {
    throw failed(
      'usage',
      '--from-address and --from-domain narrow --require-authentication: give it with them.',
    );
  }
  const change: PolicyChange = {
    enabled: enable,
    addresses: clearAddresses ? [] : address,
    domains: clearDomains ? [] : domain,
    requirement: requireAuthentication
      ? { addresses: fromAddress ?? [], domains: fromDomain ?? [] }
      : requireAuthentication === false
        ? null
        : undefined,
  };
  if (Object.values(change).every(value => value === undefined)) {
    const also = kind === 'receiving' ? ', --require-authentication' : '';
    throw failed(
      'usage',
      `Nothing to set: give --address ADDRESS, --domain DOMAIN, --enable${also} or several of them.`,
    );
  }
  return save(box, kind, named, change);
}

async function save(box: Box, kind: PolicyKind, named: string, change: PolicyChange): Promise<Answer> {
  const saved = await orMissing(noSuchInbox(named), () => setPolicy(box, { inbox: named, kind, change }));
  return answerWith(saved, policy => renderPolicy(kind, policy));
}

/** One line for each entry, and sentences about what the policy allows. */
function renderPolicy(kind: PolicyKind, policy: AdminPolicy): string {
  const required = policy.require_authentication;
  const lines: readonly (readonly [string, string | number | boolean])[] = [
    ['inbox_id', policy.inbox_id],
    ['enabled', policy.enabled],
    ['revision', policy.revision],
    ...policy.addresses.map(address => ['address', address] as const),
    ...policy.domains.map(domain => ['domain', domain] as const),
    ...(required?.addresses ?? []).map(address => ['from_address', address] as const),
    ...(required?.domains ?? []).map(domain => ['from_domain', domain] as const),
  ];
  const width = Math.max('inbox_id'.length, ...lines.map(([name]) => name.length));
  const text = lines.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`);
  return `${text.join('')}${effectOf(kind, policy)}\n`;
}

function effectOf(kind: PolicyKind, policy: AdminPolicy): string {
  const { enabled, require_authentication } = policy;
  const hasEntries = countEntries(policy) > 0;
  if (kind === 'sending') {
    if (!enabled) return 'It may send to anybody.';
    return hasEntries ? 'It may send to these only.' : 'It may send to nobody.';
  }
  const refused = enabled && hasEntries ? 'It takes no mail from these.' : null;
  if (require_authentication === undefined) return refused ?? 'It takes mail from anybody.';
  const taken =
    countEntries(require_authentication) === 0
      ? 'It takes mail of proven authors only.'
      : 'It takes mail only if it is proven to be from_address or in from_domain.';
  return [refused, taken].filter(sentence => sentence !== null).join('\n');
}

function countEntries({ addresses, domains }: AuthorRequirement): number {
  return addresses.length + domains.length;
}
