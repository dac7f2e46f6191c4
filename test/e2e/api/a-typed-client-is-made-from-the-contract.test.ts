import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createAccountWithKey } from '../../support/box/agents.js';
import { packageRoot, startBox } from '../../support/box/postern-box.js';
import { ClientWorkshop } from '../../support/contract/client-workshop.js';
import { deliver } from '../../support/smtp/deliver.js';

const programs = join(packageRoot, 'test/e2e/typed-client');

const box = await startBox(t);
const account = await createAccountWithKey(box, 'typed@agents.example.net');
const env = { BASE_URL: `http://127.0.0.1:${box.httpPort}`, API_KEY: account.credential };

// The types that the programs import are made by a generator that knows the document alone.
const workshop = new ClientWorkshop(t, programs, { exactOptionalPropertyTypes: true });
await workshop.generate(
  'openapi-typescript/bin/cli.js',
  `${env.BASE_URL}/openapi.json`,
  ...['--output', 'schema.d.ts'],
);

/** The places of complaints of the compiler, as `file:line`. */
function placesOf(complaints: readonly string[]): string[] {
  const places = complaints.map(complaint => complaint.replace(/^(\S+)\((\d+),\d+\): error.*$/, '$1:$2'));
  return [...new Set(places)];
}

t.test('the compiler lets right programs pass and stops at every wrong line', async t => {
  const wrong = readFileSync(join(programs, 'wrong.mts'), 'utf8').split('\n');
  t.strictSame(
    placesOf(await workshop.compile()),
    wrong.flatMap((text, index) => (text.includes('// wrong') ? [`wrong.mts:${index + 1}`] : [])),
  );
});

t.test('the tour of an agent, written against those types, works', async t => {
  const message = 'From: Alex <alex@client.example>\r\nSubject: Hi\r\n\r\nHello.\r\n';
  const delivered: Promise<string>[] = [];
  const result = await workshop.run('tour.mjs', env, line => {
    if (line.startsWith('typed@')) delivered.push(deliver(box, line, message));
  });
  await Promise.all(delivered);
  t.strictSame(result, {
    replayed: true,
    from: { name: 'Alex', address: 'alex@client.example' },
    text: 'Hello.\n',
    rawBytes: message.length,
    labelled: ['handled'],
    labels: [{ name: 'handled', received_count: 1, sent_count: 0 }],
    trashed: 'trashed',
    gone: 'not_found',
    inTrash: [['received', true]],
    restored: 'restored',
  });
});

t.test('and so does sending', async t => {
  t.match(await workshop.run('send.mjs', env), {
    status: 'accepted',
    to: [{ address: /^typed@/, name: 'Myself' }],
    subject: 'Typed',
  });
});
