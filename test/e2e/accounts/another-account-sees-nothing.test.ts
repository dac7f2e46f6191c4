import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { mixedMessage } from '../../support/letters/mixed-message.js';
import { deliver } from '../../support/smtp/deliver.js';

t.test(
  "another account's inbox, message, raw bytes and attachment are as if they were not there",
  async t => {
    const box = await startBox(t);
    const owner = await createAgent(box, 'owner');
    const stranger = await createAgent(box, 'stranger');
    const id = await deliver(box, owner.address, mixedMessage().raw);
    const { attachments } = await owner.api.content(id);
    const nowhere = '01234567-89ab-7def-8123-456789abcdef';

    const requests = (inbox: string, message: string): [string, string, object?][] => [
      ['GET', `/v1/inboxes/${inbox}`],
      ['PATCH', `/v1/inboxes/${inbox}`, { name: 'mine now' }],
      ['DELETE', `/v1/inboxes/${inbox}`],
      ['GET', `/v1/inboxes/${inbox}/sending-policy`],
      ['GET', `/v1/inboxes/${inbox}/receiving-policy`],
      ['GET', `/v1/inboxes/${inbox}/messages`],
      ['GET', `/v1/inboxes/${inbox}/messages/count`],
      ['GET', `/v1/messages/${message}`],
      ['DELETE', `/v1/messages/${message}`],
      ['GET', `/v1/messages/${message}/raw`],
      ['GET', `/v1/messages/${message}/attachments/${attachments[0]!.id}`],
    ];
    const theirs = requests(owner.inboxId, id);
    const none = requests(nowhere, nowhere);
    for (const [index, [method, path, body]] of theirs.entries()) {
      const options = body === undefined ? {} : { body };
      const got = await stranger.api.request(method, path, options);
      t.same([got.status, got.code], [404, 'not_found'], `${method} ${path}`);
      const missing = await stranger.api.request(method, none[index]![1], options);
      t.same(got.bytes, missing.bytes, 'word for word as for what does not exist');
    }
    t.same((await stranger.api.all(stranger.inboxId)).length, 0);
    t.equal((await owner.api.detail(id)).processing_status, 'ready', 'nothing of it was touched');
    t.match((await owner.api.get(`/v1/inboxes/${owner.inboxId}`)).json(), { name: null });
  },
);
