import type { Command } from 'commander';
import { checkMailDomain } from '../../config/value-types.js';
import { normaliseDomain } from '../../domain/addresses.js';
import {
  type DkimDeps,
  type DkimKeyView,
  ensureDkimKeys,
  listDkim,
  retireDkimDomain,
  retireDkimKey,
  rotateDkimKeys,
} from '../../usecases/dkim/keys.js';
import { maxQueuedMs } from '../../usecases/dkim/limits.js';
import type { Box } from '../context.js';
import { type Answer, answer, failed } from '../outcome.js';
import { renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
Each mail domain has two keys, RSA and Ed25519, and mail is signed with both. They are made at the first start. Publish
the record of each key that is listed as new, active or retired.

To change keys: "rotate", publish the new records, and wait. A new key signs once its record was seen in the DNS; the
old one is retired then, and stays listed until nothing that it signed can be on its way any more. Private keys are in
the store alone, and are never shown.
`;

const AFTER_ROTATION = `
Publish the records of the keys that are new, and leave the others where they are. The daemon looks for them every
minute, and each new key signs once its record was seen; "postern dns check" tells what is seen from here.
`;

/** `postern dkim`: the keys that sign mail, and their records. */
export function addDkimCommands(program: Command, cli: Cli): void {
  const dkim = program
    .command('dkim')
    .description('DKIM keys: what signs mail, and the records to publish')
    .addHelpText('after', HELP);

  dkim
    .command('list')
    .description('list keys with their records, as lines for a zone file')
    .argument('[domain]', 'only those of this mail domain')
    .action((domain?: string) =>
      cli.read(box => {
        const name = domain === undefined ? null : domainNamed(domain);
        return answerKeys(listDkim(box, name), name === null ? NO_KEYS : noKeysOf(name));
      }),
    );

  dkim
    .command('create')
    .description('make the keys that a domain lacks, for example before it is added to mail.domains')
    .argument('<domain>', 'mail domain')
    .action((domain: string) =>
      cli.change(async box => {
        const name = domainNamed(domain);
        await ensureDkimKeys(depsOf(box), name);
        return answerKeys(listDkim(box, name));
      }),
    );

  dkim
    .command('rotate')
    .description('make new keys; each signs once its record was seen in the DNS')
    .argument('<domain>', 'mail domain')
    .action((domain: string) =>
      cli.change(async box => {
        const keys = await rotateDkimKeys(depsOf(box), domainNamed(domain));
        return answerKeys(keys, NO_KEYS, AFTER_ROTATION);
      }),
    );

  dkim
    .command('retire')
    .description('end a key, or all keys of a domain that is no mail domain any more')
    .argument('<domain>', 'mail domain')
    .option(
      '--selector <selector>',
      'this key alone: a new one is withdrawn, a retired one no longer published',
    )
    .action((domain: string, { selector }: { selector?: string }) =>
      cli.change(box => retire(box, domainNamed(domain), selector)),
    );
}

async function retire(box: Box, domain: string, selector: string | undefined): Promise<Answer> {
  const deps = depsOf(box);
  if (selector !== undefined) {
    await retireDkimKey(deps, { domain, selector });
    return answerKeys(listDkim(box, domain));
  }
  if (box.config.mail.domains.includes(domain)) {
    throw failed(
      'usage',
      `${domain} is a mail domain of this service, which has to sign for it: nothing was changed. Name one key with --selector, or change the keys with "postern dkim rotate ${domain}".`,
    );
  }
  return answerKeys(await retireDkimDomain(deps, domain));
}

function depsOf({ store, clock, config }: Box): DkimDeps {
  return { store, clock, maxQueuedMs: maxQueuedMs(config) };
}

function domainNamed(text: string): string {
  const domain = checkMailDomain(normaliseDomain(text) ?? text);
  if (domain.ok) return domain.value;
  throw failed(
    'usage',
    `"${text}" is no mail domain: it ${domain.wrong}. Name one as it stands behind the @ of an address.`,
  );
}

const NO_KEYS = 'No DKIM keys. "postern serve" makes them at its start.';

function noKeysOf(domain: string): string {
  return `No DKIM keys of ${domain}. "postern dkim create ${domain}" makes them.`;
}

/** @param next what to do now; nothing when it is empty */
function answerKeys(keys: readonly DkimKeyView[], none = NO_KEYS, next = ''): Answer {
  const columns = ['domain', 'selector', 'algorithm', 'state', 'created_at', 'published_until'];
  const table = renderTable(keys, columns, none);
  const lines = keys.map(({ zone_line }) => `${zone_line}\n`).join('');
  return answer({ keys }, keys.length === 0 ? table : `${table}\nRecords to publish:\n${lines}${next}`);
}
