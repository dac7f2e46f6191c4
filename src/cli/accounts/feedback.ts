import type { Command } from 'commander';
import { type FeedbackPage, type FeedbackView, listFeedback } from '../../usecases/accounts/feedback.js';
import { addPaging, type PagingOptions, renderMore, toPage } from '../arguments.js';
import { answerWith } from '../outcome.js';
import { printable, printableText } from '../output.js';
import type { Cli } from '../run-command.js';

/** `postern feedback`: what agents have to say to the operator. */
export function addFeedbackCommands(program: Command, cli: Cli): void {
  const feedback = program.command('feedback').description('feedback: what agents tell the operator');

  addPaging(feedback.command('list').description('list feedback, newest first')).action(
    (options: PagingOptions) =>
      cli.read(box => answerWith(listFeedback(box, toPage(options)), renderFeedback)),
  );
}

function renderFeedback({ feedback, next_cursor }: FeedbackPage): string {
  if (feedback.length === 0) return 'No feedback.\n';
  return feedback.map(renderOne).join('\n') + renderMore(next_cursor);
}

function renderOne({ created_at, email, account_id, title, body }: FeedbackView): string {
  const head = `${created_at}  ${printable(email ?? account_id)}  ${title === null ? '' : printable(title)}`;
  const lines = printableText(body.trimEnd()).split('\n');
  return [head.trimEnd(), ...lines.map(line => `    ${line}`), ''].join('\n');
}
