import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { walkTable } from '../../src/store/engine/tables.js';
import { chargesTable } from '../../src/store/records/charges.js';
import { createAgent } from '../support/box/agents.js';
import type { Page } from '../support/box/api-client.js';
import { MOVABLE_CLOCK, moveClock } from '../support/box/moved-clock.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { openStore, untilFacts } from '../support/box/store-facts.js';
import { writeLetter } from '../support/letters/letters.js';
import { deliver } from '../support/smtp/deliver.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** When the charges of the box were made. */
async function chargedAt(box: PosternBox): Promise<number[]> {
  const store = openStore(box);
  try {
    return store.read(reader => [...walkTable(reader, chargesTable)].map(({ key }) => key.readUIntBE(16, 6)));
  } finally {
    await store.close();
  }
}

t.test(
  'a clock that is a year ahead for a while destroys nothing, and leaves nothing a year ahead',
  async t => {
    const box = await startBox(t, { env: MOVABLE_CLOCK });
    const agent = await createAgent(box);
    const { api, inboxId, address } = agent;
    const letter = () => writeLetter({ bytes: 2_000 }).raw;
    const send = (key: string) =>
      api.post(`/v1/inboxes/${inboxId}/sent`, {
        to: [{ address }],
        subject: 's',
        text: key,
        idempotency_key: key,
      });
    const list = async (query = ''): Promise<readonly string[]> => {
      const page = (await api.get(`/v1/inboxes/${inboxId}/messages?labels_none=x${query}`)).json<Page>();
      return page.messages.map(({ id }) => id);
    };

    const trashed = await deliver(box, address, letter());
    await api.finished(trashed);
    t.equal((await api.post(`/v1/messages/${trashed}/trash`)).status, 200);
    const deleted = await deliver(box, address, letter());
    const before = await deliver(box, address, letter());
    await api.finished(deleted);
    t.equal((await send('before')).status, 201);

    const jumped = box.hear(/^the clock of this machine has jumped/);
    moveClock(box, YEAR);
    t.match(await jumped, { level: 'error' });
    const amid = await deliver(box, address, letter());
    t.ok(
      Date.parse((await api.finished(amid)).received_at) > Date.now() + YEAR / 2,
      'answers go by the clock',
    );
    t.match((await send('before')).json(), { replayed: true }, 'no key is forgotten');
    t.equal((await send('amid')).status, 201);
    t.equal((await api.delete(`/v1/messages/${deleted}`)).status, 202);
    const facts = await untilFacts(
      box,
      ({ messages, pending }) => messages.length > 0 && pending['purge-blob'] === 0,
    );
    t.ok(
      facts.messages.some(({ id }) => id === trashed),
      'Trash is not erased',
    );
    t.notOk(
      facts.messages.some(({ id }) => id === deleted),
      'what somebody deletes is',
    );
    t.match(await box.cliJson('status'), { clock: { is_confirmed: false, moved_s: YEAR / 1000 } });
    t.match(
      (await box.cli('status')).stdout,
      /clock +IN DOUBT since .*moved 365 d forward.*postern clock accept/,
    );

    const confirmed = box.hear(/^the clock is confirmed/);
    moveClock(box, 0);
    await confirmed;
    const after = await deliver(box, address, letter());
    const { received_at } = await api.finished(after);
    t.ok(Math.abs(Date.parse(received_at) - Date.now()) < HOUR, 'new mail bears the right instant');
    const own = (await list()).filter(id => [before, amid, after].includes(id));
    t.same(own, [after, amid, before], 'order is that of arrival');
    const near = `&after=${new Date(Date.now() - HOUR).toISOString()}&before=${new Date(Date.now() + HOUR).toISOString()}`;
    const found = await list(near);
    t.same(
      [found.includes(before), found.includes(amid), found.includes(after)],
      [true, false, true],
      'filters too',
    );
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = (await api.get(`/v1/inboxes/${inboxId}/messages?limit=1${next}`)).json<Page>();
      paged.push(...page.messages.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    t.same(paged, await list('&limit=100'), 'cursors lead through all of it');
    t.equal((await api.post(`/v1/messages/${trashed}/restore`)).status, 200, 'what was in Trash comes back');
    t.match((await send('amid')).json(), { replayed: true });
    let charges = await chargedAt(box);
    while (charges.some(at => at > Date.now() + HOUR)) {
      await delay(20);
      charges = await chargedAt(box);
    }
    t.equal(charges.length, 2, 'the allowance that was used amid the jump comes back within a day');
    t.match(await box.cliJson('verify'), { sound: true });
  },
);

t.test('a start with another time keeps everything until an admin accepts the clock', async t => {
  const box = await startBox(t, { env: MOVABLE_CLOCK });
  const { api, address } = await createAgent(box);
  const trashed = await deliver(box, address, writeLetter({ bytes: 2_000 }).raw);
  await api.finished(trashed);
  t.equal((await api.post(`/v1/messages/${trashed}/trash`)).status, 200);
  await box.stop();
  moveClock(box, 60 * DAY);
  const told = box.hear(/^the clock of this machine has jumped/);
  await box.start();
  t.match(await told, { moved_s: 60 * 86_400 });
  await box.restart();
  t.match(await box.cliJson('clock', 'show'), { is_confirmed: false }, 'a restart does not forget it');
  const isThere = async () => (await untilFacts(box, () => true)).messages.some(({ id }) => id === trashed);
  t.ok(await isThere());
  const confirmed = box.hear(/^the clock is confirmed/);
  t.match(await box.cliJson('clock', 'accept'), { is_confirmed: true, in_doubt_since: null });
  await confirmed;
  await untilFacts(box, ({ messages }) => messages.length === 0);
  t.pass('then its time in Trash is over');
  await box.stop();
  t.match(await box.cliJson('clock', 'show'), { is_confirmed: true }, 'without a daemon too');
});
