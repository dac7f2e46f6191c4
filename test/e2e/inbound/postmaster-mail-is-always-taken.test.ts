import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { type PosternBox, startBox } from '../../support/box/postern-box.js';
import { openStore, readFacts } from '../../support/box/store-facts.js';
import { type Letter, writeLetter } from '../../support/letters/letters.js';
import { deliver } from '../../support/smtp/deliver.js';

const ADDRESSES = [
  'postmaster',
  'postmaster@example.org',
  'PostMaster@EXAMPLE.ORG',
  'abuse@example.org',
  'abuse+x@example.org',
];

// RFC 5321 section 4.5.1 asks for postmaster, RFC 2142 section 4 for abuse.
t.test('postmaster and abuse reach the inbox of the operator without any set-up', async t => {
  const box = await startBox(t);
  const inboxes = new Set<string>();
  for (const address of ADDRESSES) {
    const letter = writeLetter();
    const id = await deliver(box, address, letter);
    inboxes.add(await inboxOf(box, id, letter));
  }
  t.equal(inboxes.size, 1, 'all of them the same inbox');
  const { inboxes: listed } = await box.cliJson<{ inboxes: { id: string; address: string }[] }>(
    'inbox',
    'list',
  );
  t.same(
    listed.map(inbox => [inbox.id, inbox.address]),
    [[[...inboxes][0], 'postmaster@example.org']],
  );
});

t.test('postmaster and abuse reach the inbox that the configuration names', async t => {
  const box = await startBox(t, { env: { POSTERN_MAIL_POSTMASTER_INBOX: 'ops@example.org' } });
  const operator = await createAgent(box, 'ops');
  for (const address of ADDRESSES) {
    const id = await deliver(box, address, writeLetter());
    t.equal((await operator.api.detail(id)).inbox_id, operator.inboxId, address);
  }
});

async function inboxOf(box: PosternBox, id: string, letter: Letter): Promise<string> {
  const store = openStore(box);
  try {
    const record = readFacts(store).messages.find(message => message.id === id);
    if (record?.raw.size !== letter.raw.length) throw new Error(`message ${id} is not there`);
    return record.inboxId;
  } finally {
    await store.close();
  }
}
