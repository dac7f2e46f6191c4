import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../../support/redis/redis.js';
import { withFakeSmarthost } from '../../support/smarthost/fake-smarthost.js';
import { say } from '../../support/smarthost/smarthost-script.js';
import { RecordingInbound } from '../smtp/recording-inbound.js';
import { attempt } from './smarthost/with-smarthost.js';
import { relayFor, smarthostToml, withMixedRelay } from './with-relay.js';

t.test('an outcome is one line: ids, codes, counts', async t => {
  const { relay, log } = await withMixedRelay(t);
  const accepted = attempt({ recipients: ['one@elsewhere.example', 'agent@example.org'] });
  await relay.submit(accepted);
  t.match(log.matching(/message/), [
    {
      level: 'info',
      message: 'message handed over',
      fields: { id: accepted.id, status: 'accepted', recipients: 2, took_ms: Number },
    },
  ]);
});

t.test('a refusal is a warning, with the words of the server and without the addresses in them', async t => {
  const { relay, log } = await withMixedRelay(t, {
    rcpt: say('550 5.1.1 <one@elsewhere.example>: Recipient address rejected: user=one@elsewhere.example'),
  });
  const refused = attempt({ from: 'agent@example.org' });
  const outcome = await relay.submit(refused);
  t.match(log.matching(/message/), [
    {
      level: 'warn',
      message: 'message not handed over',
      fields: {
        id: refused.id,
        status: 'rejected',
        error_code: 'E_RECIPIENT_REJECTED',
        detail: /^550 5\.1\.1 <\(address\)>: Recipient address rejected/,
      },
    },
  ]);
  t.match(outcome.detail, /one@elsewhere\.example/, 'the record of the message has them');
  t.notMatch(JSON.stringify(log.lines), /elsewhere|agent@/);
});

t.test('a password is nowhere, right or wrong', async t => {
  const file = join(temporaryFolder(t), 'password');
  const smarthost = await withFakeSmarthost(t, {}, { login: { user: 'postern', password: 'right-secret' } });
  const toml = `${smarthostToml(smarthost)}user = "postern"\npassword_file = ${JSON.stringify(file)}\n`;
  const { relay, log } = relayFor(t, new RecordingInbound(), toml);

  await relay.start();
  t.match(
    log.matching(/password/),
    [{ level: 'error', fields: { file, error: 'ENOENT' } }],
    'told at the start',
  );
  t.match(await relay.submit(attempt()), { errorCode: 'E_RELAY_AUTH_FAILED' });

  writeFileSync(file, 'wrong-secret\n');
  t.match(await relay.submit(attempt()), { errorCode: 'E_RELAY_AUTH_FAILED' });
  writeFileSync(file, 'right-secret\n');
  t.match(await relay.submit(attempt()), { status: 'accepted' });
  const told = JSON.stringify(log.lines);
  for (const secret of ['wrong-secret', 'right-secret']) {
    t.notOk(told.includes(secret));
    t.notOk(told.includes(Buffer.from(`\0postern\0${secret}`).toString('base64')));
  }
});

t.test('a fault of our own is an error in the log and an outcome, never a rejection', async t => {
  const inbound = new RecordingInbound();
  const { relay, log } = relayFor(t, inbound);
  const broken = {
    ...attempt({ recipients: ['agent@example.org'] }),
    content: null as unknown as Uint8Array,
  };
  t.match(await relay.submit(broken), { status: 'unknown', errorCode: 'acceptance_unknown' });
  t.match(log.matching(/unforeseen/), [{ level: 'error' }]);
});
