import type { Command } from 'commander';
import { approveAtConsole } from '../../usecases/signup/approve.js';
import { answerWith } from '../outcome.js';
import { renderFields } from '../output.js';
import type { Cli } from '../run-command.js';

const HELP = `
The phrase works once. Whoever redeems it (POST /v1/claims) gets a key to the whole account; an email address
without an account gets one then. Eligibility is not asked: you decide.
`;

/** `postern approve`: the operator does at the console what a human does on the approval page. */
export function addApproveCommand(program: Command, cli: Cli): void {
  program
    .command('approve')
    .description('approve access to an account; prints the phrase to hand to one agent, shown this once')
    .argument('<email>', 'email address of the human, or account id')
    .addHelpText('after', HELP)
    .action((email: string) =>
      cli.change(async box =>
        answerWith(
          await approveAtConsole(box, email),
          value =>
            `${renderFields(value)}Give the six words to one agent: they work once, until expires_at.\n`,
        ),
      ),
    );
}
