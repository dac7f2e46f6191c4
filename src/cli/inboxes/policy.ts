import type { Command } from 'commander';
import type { Policy } from '../../contract/inboxes.js';
import { MAX_POLICY_ENTRIES } from '../../contract/limits.js';
import type { PolicyKind } from '../../store/records/inboxes.js';
import { type PolicyChange, readPolicy, setPolicy } from '../../usecases/inboxes/policies.js';
import { everyValue } from '../arguments.js';
import type { Box } from '../context.js';
import { inboxNamed, noSuchInbox } from '../named.js';
import { type Answer, answerWith, failed, orMissing } from '../outcome.js';
import { printable } from '../output.js';
import type { Cli } from '../run-command.js';

interface SetOptions {
  readonly enable?: true;
  readonly address?: readonly string[];
  readonly domain?: readonly string[];
  readonly clearAddresses?: true;
  readonly clearDomains?: true;
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

  rules
    .command('set')
    .description(`change ${title}`)
    .argument('<inbox>', 'address or id')
    .option('--enable', 'turn the rules on')
    .option('--address <address>', 'an address; repeat it for more. Replaces all saved addresses', everyEntry)
    .option('--domain <domain>', 'a domain; repeat it for more. Replaces all saved domains', everyEntry)
    .option('--clear-addresses', 'save no addresses')
    .option('--clear-domains', 'save no domains')
    .addHelpText('after', `\n${help}\n${MATCHING.slice(1)}${SETTING}`)
    .action((named: string, options: SetOptions) => cli.change(box => set(box, kind, named, options)));

  rules
    .command('disable')
    .description('turn the rules off; the lists stay saved')
    .argument('<inbox>', 'address or id')
    .action((named: string) => cli.change(box => save(box, kind, named, { enabled: false })));
}

/** Collects a repeatable option; undefined when it is absent, and then the list is not replaced. */
function everyEntry(value: string, before: readonly string[] | undefined): readonly string[] {
  return everyValue(value, before ?? []);
}

function show(box: Box, kind: PolicyKind, named: string): Answer {
  const inbox = inboxNamed(box, named);
  const { accountId, id } = inbox;
  return answerWith(readPolicy(box, accountId, id, kind), policy => renderPolicy(kind, policy));
}

async function set(box: Box, kind: PolicyKind, named: string, options: SetOptions): Promise<Answer> {
  const { enable, address, domain, clearAddresses, clearDomains } = options;
  if ((address !== undefined && clearAddresses) || (domain !== undefined && clearDomains)) {
    throw failed('usage', 'A list is either given or cleared, not both.');
  }
  const change: PolicyChange = {
    enabled: enable,
    addresses: clearAddresses ? [] : address,
    domains: clearDomains ? [] : domain,
  };
  if (Object.values(change).every(value => value === undefined)) {
    throw failed(
      'usage',
      'Nothing to set: give --address ADDRESS, --domain DOMAIN, --enable or several of them.',
    );
  }
  return save(box, kind, named, change);
}

async function save(box: Box, kind: PolicyKind, named: string, change: PolicyChange): Promise<Answer> {
  const saved = await orMissing(noSuchInbox(named), () => setPolicy(box, { inbox: named, kind, change }));
  return answerWith(saved, policy => renderPolicy(kind, policy));
}

/** One line for each entry, and a sentence about what the policy allows. */
function renderPolicy(kind: PolicyKind, policy: Policy): string {
  const lines: readonly (readonly [string, string | number | boolean])[] = [
    ['inbox_id', policy.inbox_id],
    ['enabled', policy.enabled],
    ['revision', policy.revision],
    ...policy.addresses.map(address => ['address', address] as const),
    ...policy.domains.map(domain => ['domain', domain] as const),
  ];
  const text = lines.map(([name, value]) => `${name.padEnd('inbox_id'.length)}  ${printable(value)}\n`);
  return `${text.join('')}${effectOf(kind, policy)}\n`;
}

function effectOf(kind: PolicyKind, { enabled, addresses, domains }: Policy): string {
  const hasEntries = addresses.length + domains.length > 0;
  if (kind === 'sending') {
    if (!enabled) return 'It may send to anybody.';
    return hasEntries ? 'It may send to these only.' : 'It may send to nobody.';
  }
  return enabled && hasEntries ? 'It takes no mail from these.' : 'It takes mail from anybody.';
}
