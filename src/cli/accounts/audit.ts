import type { Command } from 'commander';
import { listAudit } from '../../usecases/accounts/audit.js';
import { addPaging, type PagingOptions, renderMore, toPage } from '../arguments.js';
import { answerWith } from '../outcome.js';
import { renderTable } from '../output.js';
import type { Cli } from '../run-command.js';

const COLUMNS = ['at', 'event', 'email', 'client', 'key_id', 'approval_id', 'detail'];

/** `postern audit`: who asked for access, approved it, got it and lost it. */
export function addAuditCommands(program: Command, cli: Cli): void {
  const audit = program.command('audit').description('the trail of access: who asked, approved, claimed');

  addPaging(audit.command('list').description('list what happened, newest first')).action(
    (options: PagingOptions) =>
      cli.read(box =>
        answerWith(
          listAudit(box, toPage(options)),
          page => renderTable(page.events, COLUMNS, 'Nothing has happened.') + renderMore(page.next_cursor),
        ),
      ),
  );
}
