import { Command, CommanderError } from 'commander';
import { reasonOf } from '../lib/async.js';
import { publishedDkimKeys } from '../usecases/dkim/keys.js';
import { addAccountCommands } from './accounts/account.js';
import { addAllowanceCommands } from './accounts/allowance.js';
import { addAuditCommands } from './accounts/audit.js';
import { addFeedbackCommands } from './accounts/feedback.js';
import { addKeyCommands } from './accounts/key.js';
import type { CliDependencies } from './dependencies.js';
import { addDkimCommands } from './dkim/dkim.js';
import { addDnsCommands } from './dns/dns.js';
import { addDoctorCommand } from './doctor/doctor.js';
import { addInboxCommands } from './inboxes/inbox.js';
import { addPolicyCommands } from './inboxes/policy.js';
import { addSuppressionCommands } from './inboxes/suppression.js';
import { addMessageCommands } from './mailbox/message.js';
import { addMcpCommand } from './mcp/mcp.js';
import { EXIT } from './outcome.js';
import { OutputClosedError, OutputFailedError } from './output.js';
import { type Cli, reportFailure, startRun } from './run-command.js';
import { addQueueCommands } from './sending/queue.js';
import { addSentCommands } from './sending/sent.js';
import { addCompletionCommand } from './service/completion.js';
import { addConfigCommands } from './service/config.js';
import { addInitCommand } from './service/init.js';
import { addServeCommand, addVersionCommand } from './service/serve.js';
import { addApproveCommand } from './signup/approve.js';
import { addTlsCommands } from './tls/tls.js';
import { addBackupCommand } from './upkeep/backup.js';
import { addClockCommands } from './upkeep/clock.js';
import { addCompactCommand } from './upkeep/compact.js';
import { addRestoreCommand } from './upkeep/restore.js';
import { addSearchCommands } from './upkeep/search.js';
import { addStatusCommand } from './upkeep/status.js';
import { addVerifyCommand } from './upkeep/verify.js';
import { addWebhookCommands } from './webhooks/webhook.js';

export type { CliDependencies, Outside, ServeOptions, Write } from './dependencies.js';

/** What commander writes while it parses; collected, and written once parsing has ended. */
interface ParserOutput {
  help: string;
  helpForError: string;
  error: string;
}

const AFTER_HELP = `
EMAIL is an email address or an account id, INBOX an address or an id.
With --json the answer is one JSON document on stdout. A failure leaves stdout empty and is one document
on stderr: {"error":{"code","message"}}.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 wrong configuration, 4 not found.
`;

/**
 * Runs the command line and resolves to the exit code. It never ends the process; that is left to the caller.
 * @param argv the arguments, without program and script
 */
export async function runCli(argv: readonly string[], deps: CliDependencies): Promise<number> {
  const output: ParserOutput = { help: '', helpForError: '', error: '' };
  const program = createProgram(output);
  const { cli, exitCode } = startRun(deps, () => {
    const { json, config } = program.opts<{ json?: boolean; config?: string }>();
    return { isJson: json === true, configFile: config };
  });
  addCommands(program, cli, deps.version);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode();
  } catch (error) {
    try {
      return await endEarly(error, deps, argv.includes('--json'), output);
    } catch (second) {
      if (second instanceof OutputClosedError || second instanceof OutputFailedError) return EXIT.failed;
      throw second;
    }
  }
}

function createProgram(output: ParserOutput): Command {
  return new Command('postern')
    .description('Email for AI agents, on a machine of your own.')
    .option('--config <file>', 'configuration (default: /etc/postern/postern.toml, else ./postern.toml)')
    .option('--json', 'answer with one JSON document')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: text => {
        output.help += text;
      },
      writeErr: text => {
        output.helpForError += text;
      },
      outputError: text => {
        output.error += text;
      },
    });
}

function addCommands(program: Command, cli: Cli, version: string): void {
  program.version(version).addHelpText('after', AFTER_HELP);
  addInitCommand(program, cli);
  addServeCommand(program, cli);
  addMcpCommand(program, cli);
  addConfigCommands(program, cli);
  addAccountCommands(program, cli);
  addKeyCommands(program, cli);
  addApproveCommand(program, cli);
  addAllowanceCommands(program, cli);
  addInboxCommands(program, cli);
  addPolicyCommands(program, cli);
  addMessageCommands(program, cli);
  addSentCommands(program, cli);
  addQueueCommands(program, cli);
  addSuppressionCommands(program, cli);
  addWebhookCommands(program, cli);
  addDkimCommands(program, cli);
  addFeedbackCommands(program, cli);
  addAuditCommands(program, cli);
  addBackupCommand(program, cli);
  addRestoreCommand(program, cli);
  addCompactCommand(program, cli);
  addDnsCommands(program, cli, publishedDkimKeys);
  addDoctorCommand(program, cli, publishedDkimKeys);
  addTlsCommands(program, cli);
  addStatusCommand(program, cli);
  addSearchCommands(program, cli);
  addClockCommands(program, cli);
  addVerifyCommand(program, cli);
  addCompletionCommand(program, cli);
  addVersionCommand(program, cli);
}

/** Handles what ended parsing early (help, wrong usage) or what a command threw. */
async function endEarly(
  error: unknown,
  deps: CliDependencies,
  isJson: boolean,
  output: ParserOutput,
): Promise<number> {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) {
      await deps.stdout(output.help);
      return EXIT.done;
    }
    return reportUsage(deps, isJson, output);
  }
  if (error instanceof OutputFailedError) {
    const message = `${error.message}. The answer is not complete; what the command changed stays changed.`;
    return reportFailure(deps, isJson, { code: 'output_failed', message });
  }
  if (error instanceof OutputClosedError) {
    await deps.stderr(
      'postern: nobody read the answer to its end; what the command changed stays changed.\n',
    );
    return EXIT.failed;
  }
  const trace = error instanceof Error ? `\n${error.stack ?? ''}` : '';
  return reportFailure(deps, isJson, {
    code: 'internal_error',
    message: `An unexpected error, which is a fault of Postern: ${reasonOf(error)}. Please report it with these lines.${trace}`,
  });
}

function reportUsage(deps: CliDependencies, isJson: boolean, output: ParserOutput): Promise<number> {
  let message = `${output.error.trim().replace(/^error: /, '')}\nAdd --help to see what a command takes.`;
  // For a missing command commander writes the help and no error message.
  if (output.error === '') message = `a command is missing.\n\n${output.helpForError.trimEnd()}`;
  return reportFailure(deps, isJson, { code: 'usage', message });
}
