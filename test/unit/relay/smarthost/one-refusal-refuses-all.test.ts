import t from 'tap';
import { type Step, say } from '../../../support/smarthost/smarthost-script.js';
import { attempt, withSmarthost } from './with-smarthost.js';

const recipients = ['one@x.example', 'two@x.example', 'three@x.example'];

for (const refused of [1, 2, 3]) {
  t.test(`recipient ${refused} of three is refused: no DATA, nobody gets it`, async t => {
    const rcpt: Step = ({ recipient, transaction }) =>
      transaction === 1 && recipient === refused ? say('550 5.1.1 <x@x.example> unknown') : null;
    const { smarthost, transport } = await withSmarthost(t, { rcpt }, { maxConnections: 1 });
    const outcome = await transport.submit(attempt({ recipients }));
    t.match(outcome, {
      status: 'rejected',
      errorCode: 'E_RECIPIENT_REJECTED',
      detail: `550 5.1.1 <x@x.example> unknown (at RCPT, recipient ${refused})`,
    });
    await smarthost.until(() => smarthost.sessions[0]?.lines.at(-1) === 'RSET');
    t.notOk(smarthost.sessions[0]?.lines.includes('DATA'));
    t.equal(smarthost.submissions.length, 0);

    t.equal((await transport.submit(attempt({ recipients }))).status, 'accepted', 'the session goes on');
    t.equal(smarthost.sessions.length, 1);
    t.same(smarthost.submissions[0]?.recipients, recipients);
  });
}

t.test('the first refusal is told, others are not asked for', async t => {
  const { smarthost, transport } = await withSmarthost(t, {
    rcpt: ({ recipient }) =>
      recipient === 1 ? null : say(recipient === 2 ? '450 4.2.0 Later' : '550 5.1.1 No'),
  });
  t.match(await transport.submit(attempt({ recipients })), { detail: /^450 4\.2\.0 Later/ });
  t.equal(smarthost.sessions[0]?.lines.filter(line => line.startsWith('RCPT')).length, 2);
});

t.test('a session that cannot be reset is left', async t => {
  const { smarthost, transport } = await withSmarthost(t, {
    mail: say('550 5.1.8 No'),
    rset: say('500 what'),
  });
  t.equal((await transport.submit(attempt())).status, 'rejected');
  await smarthost.until(() => smarthost.sessions[0]?.isOpen === false);
  smarthost.script = {};
  t.equal((await transport.submit(attempt())).status, 'accepted');
  t.equal(smarthost.sessions.length, 2);
});
