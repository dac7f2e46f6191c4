import t from 'tap';
import { addAccount } from '../../src/usecases/accounts/accounts.js';
import { createAccountWithKey, createInbox } from '../support/box/agents.js';
import type { PosternBox } from '../support/box/postern-box.js';
import { openStore } from '../support/box/store-facts.js';
import { startSmarthostBox } from '../support/smarthost/smarthost-box.js';
import { tokenIn } from '../unit/usecases/signup/with-approvals.js';

const DECIDED = /^an approval link was (?:mailed|asked for and is not given)$/;

/** Spellings under which mail would reach an inbox of the box, or a relay might bring it back to one. */
const SPELLINGS = [
  'victim@example.org',
  'VICTIM@Example.ORG',
  'victim+generation.2@example.org',
  'fresh@example.org',
  'victim%example.org@relay.example.net',
  'example.org!victim@relay.example.net',
];

/** An account of a time when nobody minded whose inbox its address was. */
async function addOldAccount(box: PosternBox, email: string): Promise<void> {
  const store = openStore(box);
  try {
    await store.write(writer => addAccount(writer, { email, nowMs: Date.now(), isOperator: false }));
  } finally {
    await store.close();
  }
}

t.test('an agent gets no link to an account by an inbox of its own, under any policy', async t => {
  for (const policy of ['closed', 'open']) {
    const { box, smarthost } = await startSmarthostBox(t, {
      POSTERN_SIGNUP_POLICY: policy,
      POSTERN_SIGNUP_DOMAINS: 'example.org',
    });
    const agent = await createAccountWithKey(box, 'eve@elsewhere.example');
    const inboxes = [await createInbox(agent, 'victim'), await createInbox(agent, 'fresh')];
    await addOldAccount(box, 'victim@example.org');
    const form = /name="seal" value="([^"]+)"/;
    const asked: string[] = [...SPELLINGS, 'human@elsewhere.example'];
    await createAccountWithKey(box, 'human@elsewhere.example');
    const answers = new Set<string>();
    for (const [n, email] of asked.entries()) {
      const url = `http://127.0.0.1:${box.httpPort}/approve`;
      const page = await fetch(url);
      const [cookie = ''] = (page.headers.get('set-cookie') ?? '').split(';');
      const seal = form.exec(await page.text())?.[1] ?? '';
      const body = new URLSearchParams({ email, seal });
      const origin = 'http://localhost:8025';
      const sent = await fetch(url, {
        method: 'POST',
        body,
        headers: { cookie, origin },
        redirect: 'manual',
      });
      answers.add(`${sent.status} ${sent.headers.get('location')} ${await sent.text()}`);
      while (box.heard(DECIDED).length <= n) await box.hear(DECIDED);
    }
    t.equal(answers.size, 1, 'the page answers the same for each of them');
    t.match([...answers][0], /^303 /);
    t.same(
      box.heard(DECIDED).map(line => line.msg),
      [
        ...SPELLINGS.map(() => 'an approval link was asked for and is not given'),
        'an approval link was mailed',
      ],
      policy,
    );
    t.same(
      smarthost.submissions.map(({ recipients }) => recipients),
      [['human@elsewhere.example']],
      'one link goes out, to the human whose mail is kept elsewhere',
    );
    t.ok(tokenIn(smarthost.submissions[0]!.content.toString().replace(/=\r\n|\r/g, '')));
    for (const { id } of inboxes) t.same(await agent.api.all(id), [], 'the agent got no mail');
    await box.stop();
  }
});

t.test('no inbox takes the address of an account, whichever of the two comes first', async t => {
  const { box } = await startSmarthostBox(t);
  const eve = await createAccountWithKey(box, 'eve@elsewhere.example');
  for (const email of ['Ann@Example.org', 'ben+mail@example.org', 'carl+a+b@example.org']) {
    await createAccountWithKey(box, email);
    const localPart = email.toLowerCase().split(/[+@]/)[0]!;
    const refused = await eve.api.post('/v1/inboxes', { local_part: localPart });
    t.equal(refused.status, 409, email);
    t.match(refused.json(), { error: { code: 'address_unavailable' } });
  }
  for (const localPart of ['anne', 'be', 'carl-a']) await createInbox(eve, localPart);
  for (const email of ['anne@example.org', 'Anne+x@EXAMPLE.org']) {
    const made = await box.cli('--json', 'account', 'create', email);
    t.equal(made.code, 1);
    t.match(JSON.parse(made.stderr), { error: { code: 'invalid_request', message: /address of an inbox/ } });
    const approved = await box.cli('--json', 'approve', email);
    t.equal(approved.code, 1, 'nor does the console make one');
    t.match(JSON.parse(approved.stderr), { error: { message: /address of an inbox/ } });
  }
});

t.test('of an inbox and an account that are made at once, one is made', async t => {
  const { box } = await startSmarthostBox(t);
  const eve = await createAccountWithKey(box, 'eve@elsewhere.example');
  const names = Array.from({ length: 2 }, (_, n) => `racer${n}`);
  await Promise.all(
    names.map(async name => {
      const [inbox, account] = await Promise.all([
        eve.api.post('/v1/inboxes', { local_part: name }),
        box.cli('--json', 'account', 'create', `${name}@example.org`),
      ]);
      t.equal(Number(inbox.status === 201) + Number(account.code === 0), 1, name);
    }),
  );
});
