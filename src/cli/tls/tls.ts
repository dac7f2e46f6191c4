import type { Command } from 'commander';
import { becomeOwnerOf } from '../context.js';
import type { CertificateStatus, IssueOutcome } from '../dependencies.js';
import { type Answer, answer, failed } from '../outcome.js';
import { printable, renderFields } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
With tls.acme = true the daemon gets a certificate from an authority (Let's Encrypt unless tls.directory_url
names another) and renews it when a third of its lifetime is left; these commands are for looking at it, and for
trying now what would be tried later by itself. The authority fetches a proof from port 80 of every name:
the daemon answers there (tls.acme_port), or a proxy passes /.well-known/acme-challenge/ on to http.port.
A running daemon serves what is issued within a minute, or at once after SIGHUP.
`;

/** `postern tls`: the certificates of the listeners. */
export function addTlsCommands(program: Command, cli: Cli): void {
  const tls = program.command('tls').description('certificates of SMTP and HTTPS').addHelpText('after', HELP);

  tls
    .command('status')
    .description('show which certificates are served, until when, and how the last try to get one went')
    .action(() =>
      cli.plain(async () => {
        const certificates = (await cli.deps.certificates()).status(cli.readConfig().config);
        const text =
          certificates.length === 0
            ? 'No certificate is configured: SMTP offers no STARTTLS. Set tls.acme, or smtp.tls_cert and smtp.tls_key.\n'
            : certificates.map(one => renderFields(fieldsOf(one))).join('\n');
        return answer({ certificates }, text);
      }),
    );

  tls
    .command('issue')
    .description('get the certificate now, if there is none that fits or it is to be renewed')
    .action(() => cli.plain(() => obtain(cli, 'due')));

  tls
    .command('renew')
    .description(
      'get a new certificate now, even if the one that is there is good; authorities limit how often',
    )
    .action(() => cli.plain(() => obtain(cli, 'none')));
}

async function obtain(cli: Cli, needs: 'due' | 'none'): Promise<Answer> {
  const { config } = cli.readConfig();
  const certificates = await cli.deps.certificates();
  const outcome = await certificates.obtain(config, {
    needs,
    becomeOwner: () => becomeOwnerOf(config.store.path, { makesStore: true }),
    onStep: step => {
      // With --json, what is on stderr is one document. A step that nobody reads is no reason to stop.
      if (!cli.isJson()) void cli.deps.stderr(`postern: ${printable(step)}\n`).catch(() => {});
    },
  });
  return answerTo(outcome, () => certificates.status(config));
}

function answerTo(outcome: IssueOutcome, now: () => readonly CertificateStatus[]): Answer {
  switch (outcome.kind) {
    case 'off':
      throw failed(
        'invalid_configuration',
        'tls.acme is false, so no authority is asked. Set tls.acme and tls.agree_to_terms to true to get a certificate.',
      );
    case 'failed':
      throw failed(
        outcome.type === 'rateLimited' ? 'rate_limited' : 'certificate_failed',
        `No certificate was issued: ${outcome.message}${nextTry(outcome.next_try_at)} The one that was there stays.`,
        { type: outcome.type, next_try_at: outcome.next_try_at },
      );
    case 'not_due':
      return answer(
        outcome,
        `The certificate is good, and renewed from ${outcome.renewal_at} on. "postern tls renew" gets a new one all the same.\n`,
      );
    case 'issued': {
      const issued = now().filter(({ source }) => source === 'acme');
      return answer(
        { kind: 'issued', certificates: issued },
        `The certificate was issued.\n${issued.map(one => renderFields(fieldsOf(one))).join('\n')}`,
      );
    }
  }
}

function nextTry(instant: string | null): string {
  return instant === null ? '' : ` The daemon tries again at ${instant}.`;
}

function fieldsOf(one: CertificateStatus): object {
  const { error } = one;
  return {
    certificate: stateLine(one),
    serves: one.serves.join(', '),
    file: one.file,
    names: one.names.join(', '),
    issuer: one.issuer,
    valid_to: one.valid_to,
    ...(one.source === 'files'
      ? {}
      : {
          asked_for: (one.asked_for ?? []).join(', '),
          authority: one.authority,
          next_try: one.renewal_at ?? 'at once, while the daemon runs',
          last_try: one.last_try_at,
          failures: one.failures,
        }),
    ...(error === null ? {} : { error: `${error.type}: ${error.message}`, advice: error.advice }),
  };
}

/** One certificate in a few words, for `postern status`. */
export function certificateLine(one: CertificateStatus): string {
  const { error, failures, serves } = one;
  const trouble =
    error === null
      ? ''
      : `, ${failures > 0 ? `${failures} failed tries` : 'cannot be read'}: see "postern tls status"`;
  return `${serves.join(' and ')}: ${stateLine(one)}${trouble}`;
}

function stateLine({ state, days_left: days }: CertificateStatus): string {
  switch (state) {
    case 'valid':
      return `valid, ${days} days left`;
    case 'replaced_soon':
      return `valid, ${days} days left, but not what is configured now: it is to be replaced`;
    case 'expired':
      return 'EXPIRED';
    case 'missing':
      return 'none yet';
    case 'unreadable':
      return 'cannot be read';
  }
}
