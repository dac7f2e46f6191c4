import t, { type Test } from 'tap';
import { type Account, createAccountWithKey, createInbox, type Inbox } from '../support/box/agents.js';
import type { ApiAnswer } from '../support/box/api-client.js';
import { type PosternBox, startBox } from '../support/box/postern-box.js';
import { submission } from '../support/sending/sending.js';
import { watchGrowth } from './process-facts.js';

/** What one request brings: five megabytes of files are the most that a message can have. */
const FILE = Buffer.alloc(3_700_000, 'postern ').toString('base64');
const MAY_GROW_MIB = 340;

interface Tenant {
  readonly account: Account;
  readonly inbox: Inbox;
}

async function tenants(box: PosternBox, count: number): Promise<Tenant[]> {
  const made: Tenant[] = [];
  for (let n = 0; n < count; n++) {
    const account = await createAccountWithKey(box, `tenant${n}@agents.example.net`);
    made.push({ account, inbox: await createInbox(account, `tenant${n}`) });
  }
  return made;
}

/** Every one was done, or told to come again. */
function statuses(t: Test, answers: readonly ApiAnswer[]): string {
  const busy = answers.filter(({ status }) => status === 503);
  t.ok(busy.every(({ headers }) => Number(headers['retry-after']) > 0));
  t.equal(answers.filter(({ status }) => status === 201).length + busy.length, answers.length);
  return `${answers.length - busy.length} done, ${busy.length} told to come again`;
}

t.test('a hundred drafts of five megabytes at once', async t => {
  const box = await startBox(t);
  const many = await tenants(box, 5);
  const body = JSON.stringify({
    subject: 'Notes',
    text: 'Hello',
    attachments: [{ filename: 'a.bin', type: 'a/b', content: FILE }],
  });
  const growth = watchGrowth(box.pid);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => {
      const { account, inbox } = many[n % many.length]!;
      const headers = { 'content-type': 'application/json' };
      return account.api.request('POST', `/v1/inboxes/${inbox.id}/drafts`, { headers, body });
    }),
  );
  const grownMib = growth.stop();
  t.comment(`${grownMib.toFixed(0)} MiB, ${statuses(t, answers)}`);
  t.ok(grownMib < MAY_GROW_MIB, `the daemon grew by ${grownMib.toFixed(0)} MiB`);
});

t.test('forty forwards of the largest message at once', async t => {
  const box = await startBox(t, { env: { POSTERN_LIMITS_SENDS: '1000' } });
  const [tenant] = await tenants(box, 1);
  const { account, inbox } = tenant!;
  const file = { filename: 'a.bin', type: 'a/b', content: FILE };
  const first = await account.api.post(
    `/v1/inboxes/${inbox.id}/sent`,
    submission(inbox.address, { attachments: [file] }),
  );
  const { id } = first.json<{ message: { id: string } }>().message;
  const growth = watchGrowth(box.pid);
  const answers = await Promise.all(
    Array.from({ length: 40 }, () =>
      account.api.post(`/v1/inboxes/${inbox.id}/forward`, {
        message_id: id,
        to: [{ address: 'nobody@remote.example' }],
      }),
    ),
  );
  const grownMib = growth.stop();
  t.comment(`${grownMib.toFixed(0)} MiB, ${statuses(t, answers)}`);
  t.ok(grownMib < MAY_GROW_MIB, `the daemon grew by ${grownMib.toFixed(0)} MiB`);
});
