import t from 'tap';
import type { MessageId } from '../../../src/domain/ids.js';
import { composeMessage } from '../../../src/mail/write/compose-message.js';
import { signedTransport } from '../../../src/relay/signed-transport.js';
import { mailSigner } from '../../../src/usecases/dkim/sign-mail.js';
import type { RelayAttempt } from '../../../src/usecases/ports.js';
import { recordingLog } from '../../support/redis/redis.js';
import { outgoing } from '../mail/write/outgoing-messages.js';
import { DOMAIN, withKeys } from '../usecases/dkim/with-keys.js';

const AUTHOR = { address: `agent@${DOMAIN}`, name: 'Agent, "the" first' };

async function wiresOf(
  t: Parameters<typeof withKeys>[0],
  cases: readonly { readonly reversePath: string; readonly from: typeof AUTHOR }[],
): Promise<string[]> {
  const { deps, upkeep } = await withKeys(t);
  await upkeep();
  const wires: string[] = [];
  const transport = {
    async start() {},
    async close() {},
    async submit({ content }: RelayAttempt) {
      wires.push(Buffer.from(content).toString('latin1'));
      return { status: 'accepted', detail: '' } as const;
    },
  };
  const signer = mailSigner({ ...deps, domains: [DOMAIN] }, { isRedated: false });
  const signed = signedTransport(transport, signer, recordingLog());
  for (const { reversePath, from } of cases) {
    const content = await composeMessage(outgoing({ from }));
    const envelope = { from: reversePath, recipients: ['ann@remote.example'] };
    await signed.submit({ id: '1' as MessageId, envelope, content });
  }
  return wires;
}

t.test('mail with an empty reverse-path, or another one, is signed for the domain in From', async t => {
  const wires = await wiresOf(
    t,
    ['', 'bounces@remote.example', AUTHOR.address].map(reversePath => ({ reversePath, from: AUTHOR })),
  );
  for (const wire of wires) {
    t.equal(wire.match(/^DKIM-Signature: /gm)?.length, 2);
    t.match(wire, new RegExp(`\\bd=${DOMAIN.replace('.', '\\.')};`));
  }
});

t.test('no reverse-path of ours signs what another has written', async t => {
  const from = { ...AUTHOR, address: 'ann@remote.example' };
  const [wire] = await wiresOf(t, [{ reversePath: AUTHOR.address, from }]);
  t.notMatch(wire, /DKIM-Signature/);
});
