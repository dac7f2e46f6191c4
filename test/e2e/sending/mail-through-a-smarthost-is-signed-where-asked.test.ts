import t from 'tap';
import { openMigratedStore } from '../../../src/store/open-store.js';
import { listDkimKeys } from '../../../src/store/records/dkim-keys.js';
import type { DkimKeyView } from '../../../src/usecases/dkim/keys.js';
import { createAgent } from '../../support/box/agents.js';
import type { PosternBox } from '../../support/box/postern-box.js';
import { needsVerifier, verify } from '../../support/dkim/signing.js';
import { send, submission } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';

async function recordsOf(box: PosternBox): Promise<Record<string, string>> {
  const { keys } = await box.cliJson<{ keys: readonly DkimKeyView[] }>('dkim', 'list');
  return Object.fromEntries(keys.map(({ name, record }) => [name, record]));
}

async function privateKeysOf(box: PosternBox): Promise<string[]> {
  const { dataDir: path, mapSizeBytes } = box;
  const store = await openMigratedStore({ path, mapSizeBytes, diskFloorBytes: 0 });
  try {
    const keys = store.read(reader => listDkimKeys(reader));
    return keys.flatMap(key => ('privateKey' in key ? [key.privateKey] : []));
  } finally {
    await store.close();
  }
}

t.test('with relay.dkim mail leaves with signatures that verify', { skip: needsVerifier }, async t => {
  const { box, smarthost } = await startSmarthostBox(t, { POSTERN_RELAY_DKIM: 'true' });
  const agent = await createAgent(box, 'agent');
  await send(agent, submission('ann@far.example'));
  const message = smarthost.submissions.at(-1)!.content;
  const records = await recordsOf(box);
  const secrets = await privateKeysOf(box);
  t.strictSame(verify([{ records, message }]), [[true, true]]);
  t.equal(secrets.length, 2);
  const log = JSON.stringify(box.lines) + box.tail();
  for (const secret of secrets) t.notOk(log.includes(secret.slice(0, 60)), 'nothing private is logged');
});

t.test(
  'a relay that writes ids and dates anew gets mail without signatures of them',
  { skip: needsVerifier },
  async t => {
    const { box, smarthost } = await startSmarthostBox(t, {
      POSTERN_RELAY_DKIM: 'true',
      POSTERN_RELAY_SMARTHOST_KEEPS_MESSAGE_ID: 'false',
    });
    const agent = await createAgent(box, 'agent');
    await send(agent, submission('ann@far.example'));
    const wire = smarthost.submissions.at(-1)!.content.toString('latin1');
    const changed = wire
      .replace(/^Message-ID: .*\r\n/m, 'Message-ID: <given@relay.example>\r\n')
      .replace(/^Date: .*\r\n/m, 'Date: Sun, 29 Nov 2026 00:00:00 +0000\r\n');
    t.not(changed, wire);
    const records = await recordsOf(box);
    t.strictSame(verify([{ records, message: Buffer.from(changed, 'latin1') }]), [[true, true]]);
  },
);

t.test('without it mail leaves as it was composed', async t => {
  const { box, smarthost } = await startSmarthostBox(t);
  const agent = await createAgent(box, 'agent');
  await send(agent, submission('ann@far.example'));
  t.notMatch(smarthost.submissions.at(-1)!.content.toString('latin1'), /DKIM-Signature/);
});
