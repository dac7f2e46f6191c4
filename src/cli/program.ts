import { Command, CommanderError } from 'commander';
import { reasonOf } from '../lib/async.js';
import { addCommands } from './commands.js';
import type { CliDependencies } from './dependencies.js';
import { EXIT } from './outcome.js';
import { OutputClosedError, OutputFailedError } from './output.js';
import { reportFailure, startRun } from './run-command.js';

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
  program.version(deps.version).addHelpText('after', AFTER_HELP);
  try {
    await addCommands(program, cli, argv);
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
