import type { Test } from 'tap';
import t from 'tap';
import { cliBox, DOMAIN } from '../cli-box.js';

const ADA = `ada@${DOMAIN}`;

async function boxWithInbox(t: Test) {
  const box = await cliBox(t);
  await box.json('account', 'create', 'ada@example.org');
  const inbox = await box.json('inbox', 'create', '--account', 'ada@example.org', 'ada');
  return { box, id: inbox.id! };
}

for (const kind of ['sending', 'receiving']) {
  t.test(`${kind} rules are set, shown, turned off and on again`, async t => {
    const { box, id } = await boxWithInbox(t);
    const policy = (...args: string[]) => box.json<object>('policy', kind, ...args);
    const none = { inbox_id: id, enabled: false, addresses: [], domains: [], revision: 0 };
    t.same(await policy('show', ADA), none);

    const first = await policy('set', ADA, '--address', 'Ann@Example.COM', '--address', 'bob@example.net');
    t.same(
      first,
      { ...none, addresses: ['Ann@example.com', 'bob@example.net'], revision: 1 },
      'saved, still off',
    );
    const second = await policy('set', id, '--enable', '--domain', 'bücher.example');
    t.same(second, { ...first, enabled: true, domains: ['xn--bcher-kva.example'], revision: 2 });
    t.same(await policy('show', ADA.toUpperCase()), second);

    const off = await policy('disable', ADA);
    t.same(off, { ...second, enabled: false, revision: 3 }, 'the lists stay');
    t.same(await policy('set', ADA, '--address', 'new@example.com'), {
      ...off,
      addresses: ['new@example.com'],
      revision: 4,
    });
    const on = await policy('set', ADA, '--enable');
    t.match(on, { enabled: true, addresses: ['new@example.com'], domains: ['xn--bcher-kva.example'] });
    t.match(await policy('set', ADA, '--clear-addresses'), {
      enabled: true,
      addresses: [],
      domains: { length: 1 },
    });
    t.match(await policy('set', ADA, '--clear-domains'), { enabled: true, domains: [], revision: 7 });
  });
}

t.test('the text names every entry and says what it comes to', async t => {
  const { box, id } = await boxWithInbox(t);
  const policy = async (...args: string[]) => (await box.run('policy', ...args)).out;
  t.match(await policy('sending', 'show', ADA), /\nIt may send to anybody\.\n$/);
  t.match(await policy('receiving', 'show', ADA), /\nIt takes mail from anybody\.\n$/);
  t.equal(
    await policy(
      'sending',
      'set',
      ADA,
      '--enable',
      '--address',
      'ann@example.com',
      '--domain',
      'example.net',
    ),
    [
      `inbox_id  ${id}`,
      'enabled   true',
      'revision  1',
      'address   ann@example.com',
      'domain    example.net',
      'It may send to these only.',
      '',
    ].join('\n'),
  );
  t.match(
    await policy('sending', 'set', ADA, '--clear-addresses', '--clear-domains'),
    /\nIt may send to nobody\.\n$/,
  );
  t.match(await policy('receiving', 'set', ADA, '--enable'), /\nIt takes mail from anybody\.\n$/);
  t.match(
    await policy('receiving', 'set', ADA, '--domain', 'example.net'),
    /\ndomain {4}example\.net\nIt takes no mail from these\.\n$/,
  );
});

t.test('an inbox may require that authors are proven, and agents are not shown it', async t => {
  const { box, id } = await boxWithInbox(t);
  const policy = (...args: string[]) => box.json<object>('policy', 'receiving', ...args);
  const plain = { inbox_id: id, enabled: false, addresses: [], domains: [] };
  const any = { addresses: [], domains: [] };
  t.same(await policy('set', ADA, '--require-authentication'), {
    ...plain,
    revision: 1,
    require_authentication: any,
  });
  const narrowed = await policy(
    ...['set', id, '--require-authentication', '--from-address', 'Boss@Bank.example'],
    ...['--from-domain', 'Bücher.example'],
  );
  const required = { addresses: ['Boss@bank.example'], domains: ['xn--bcher-kva.example'] };
  t.same(narrowed, { ...plain, revision: 2, require_authentication: required });
  const { out } = await box.run('policy', 'receiving', 'show', ADA);
  t.match(out, /\nfrom_address {2}Boss@bank\.example\nfrom_domain {3}xn--bcher-kva\.example\n/);
  t.match(out, /\nIt takes mail only if it is proven to be from_address or in from_domain\.\n$/);
  // The lists of those who are refused are another rule.
  const blocking = await policy('set', ADA, '--enable', '--domain', 'spam.example');
  t.match(blocking, { enabled: true, require_authentication: required });
  t.match(await policy('disable', ADA), { enabled: false, require_authentication: required });
  t.match(await policy('set', ADA, '--require-authentication'), { require_authentication: any });
  t.match(
    (await box.run('policy', 'receiving', 'show', ADA)).out,
    /\nIt takes mail of proven authors only\.\n$/,
  );
  t.same(await policy('set', ADA, '--no-require-authentication'), {
    ...plain,
    domains: ['spam.example'],
    revision: 6,
  });

  const set = (...args: string[]) => box.failure('policy', 'receiving', 'set', ADA, ...args);
  t.match(await set('--from-domain', 'a.example'), { code: 2, error: { message: /narrow/ } });
  t.match(await set('--no-require-authentication', '--from-address', 'a@b.example'), { code: 2 });
  t.match(await set('--require-authentication', '--from-domain', '*.b.example'), {
    code: 1,
    error: { code: 'invalid_request', message: /wildcard/ },
  });
  t.match(await box.failure('policy', 'sending', 'set', ADA, '--require-authentication'), { code: 2 });
});

t.test('what is wrong is named, and nothing is saved', async t => {
  const { box, id } = await boxWithInbox(t);
  const set = (...args: string[]) => box.failure('policy', 'receiving', 'set', ...args);
  t.match(await set(ADA), { code: 2, error: { code: 'usage', message: /Nothing to set/ } });
  t.match(await set(ADA, '--domain', 'a.example', '--clear-domains'), { code: 2, error: { code: 'usage' } });
  t.match(await set(ADA, '--enable', '--domain', 'a.example', '--domain', '*.b.example'), {
    code: 1,
    error: { code: 'invalid_request', message: /"\*\.b\.example" has a wildcard/ },
  });
  t.match(await set(ADA, '--address', ''), { code: 1, error: { code: 'invalid_request' } });
  for (const verb of [['show'], ['set', '--enable'], ['disable']] as const) {
    const [name, ...options] = verb;
    const failure = await box.failure('policy', 'sending', name, `nobody@${DOMAIN}`, ...options);
    t.match(failure, { code: 4, out: '', error: { code: 'not_found', message: /inbox list/ } }, name);
  }
  t.same(await box.json('policy', 'receiving', 'show', id), {
    inbox_id: id,
    enabled: false,
    addresses: [],
    domains: [],
    revision: 0,
  });
});

t.test('a hundred entries fit', async t => {
  const { box } = await boxWithInbox(t);
  const options = Array.from({ length: 101 }, (_, n) => ['--domain', `n${n}.example`]);
  const fits = options.slice(0, 100).flat();
  t.match(await box.json('policy', 'sending', 'set', ADA, ...fits), { domains: { length: 100 } });
  t.match(await box.failure('policy', 'sending', 'set', ADA, ...options.flat()), {
    code: 1,
    error: { message: /101 entries.*at most 100/ },
  });
});
