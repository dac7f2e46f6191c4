import t from 'tap';
import type { WebhookId } from '../../../../src/domain/ids.js';
import { tellEndpoint } from '../../../../src/usecases/webhooks/tell-endpoint.js';
import { sequencesOf, withHooks } from './with-hooks.js';

t.test('what cannot be written down is not told again and again', async t => {
  const hooks = await withHooks(t);
  const { store } = hooks.house;
  const webhook = await hooks.make();
  const other = await hooks.make({ url: `${hooks.receiver.url}/other` });
  await hooks.happen(2);
  Object.defineProperty(store.room, 'hasRoomFor', { value: () => false, configurable: true });
  const tell = ({ id }: { readonly id: string }) => tellEndpoint(hooks.deps, id as WebhookId);
  t.equal(await tell(webhook), undefined);
  t.strictSame(sequencesOf(hooks.receiver.received).sort(), [2, 3]);
  t.equal(await tell(webhook), undefined);
  t.equal(await tell(other), undefined, 'nor does another endpoint hear of what would be told again');
  t.equal(hooks.receiver.received.length, 2);
  Reflect.deleteProperty(store.room, 'hasRoomFor');
  hooks.deps.pause.untilMs = 0;
  t.equal(await tell(webhook), undefined);
  t.strictSame(sequencesOf(hooks.receiver.received).sort(), [2, 2, 3, 3], 'it is told after the pause');
  t.match(hooks.record(webhook), { place: 3 });
  t.strictSame(hooks.faults(), []);
});
