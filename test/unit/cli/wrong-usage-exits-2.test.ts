import t from 'tap';
import { run } from './run-without-a-box.js';

const mistakes: ReadonlyArray<readonly [claim: string, args: readonly string[], told: RegExp]> = [
  [
    'an unknown command, with the nearest',
    ['acount', 'list'],
    /unknown command 'acount'\n\(Did you mean account\?\)/,
  ],
  ['an unknown verb, with the nearest', ['account', 'lst'], /unknown command 'lst'\n\(Did you mean list\?\)/],
  [
    'an unknown option, with the nearest',
    ['init', '--domian', 'x'],
    /unknown option '--domian'\n\(Did you mean --domain\?\)/,
  ],
  ['an unknown global option, with the nearest', ['version', '--jsn'], /'--jsn'\n\(Did you mean --json\?\)/],
  ['a missing argument', ['account', 'create'], /missing required argument 'email'/],
  ['a missing option', ['inbox', 'create', 'agent'], /'--account <email>' not specified/],
  ['an argument too many', ['account', 'show', 'a', 'b'], /too many arguments/],
  ['a missing option value', ['version', '--config'], /'--config <file>' argument missing/],
  ['a number that is none', ['allowance', 'set', '--account', 'a', '--inboxes', '1e3'], /from 0 to 1000000/],
  ['rules of no kind', ['policy', 'set', 'a'], /unknown command 'set'/],
  ['rules of no inbox', ['policy', 'sending', 'set', '--enable'], /missing required argument 'inbox'/],
  ['a limit out of bounds', ['message', 'list', 'a', '--limit', '101'], /from 1 to 100/],
  ['no sent message to show', ['sent', 'show'], /missing required argument 'message_id'/],
  ['an argument too many for a status', ['queue', 'status', 'all'], /too many arguments/],
  ['a missing verb, with the help', ['account'], /a command is missing[\s\S]*create <email>/],
  ['a missing command, with the help', [], /a command is missing[\s\S]*allowances:/],
];

for (const [claim, args, told] of mistakes) {
  t.test(`${claim}: exit code 2, told on stderr`, async t => {
    const { code, out, err } = await run(...args);
    t.equal(code, 2);
    t.equal(out, '');
    t.match(err, told);
    t.match(err, /^postern: /);
  });
}

t.test('with --json the error is one document on stderr', async t => {
  const { code, out, err } = await run('account', 'lst', '--json');
  t.equal(code, 2);
  t.equal(out, '');
  t.match(JSON.parse(err), { error: { code: 'usage', message: /unknown command 'lst'/ } });
});
