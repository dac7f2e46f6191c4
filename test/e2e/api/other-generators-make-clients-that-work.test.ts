import { join } from 'node:path';
import t from 'tap';
import { createAccountWithKey } from '../../support/box/agents.js';
import { packageRoot, startBox } from '../../support/box/postern-box.js';
import { ClientWorkshop } from '../../support/contract/client-workshop.js';

const box = await startBox(t);
const account = await createAccountWithKey(box, 'generated@agents.example.net');
const baseUrl = `http://127.0.0.1:${box.httpPort}`;
const contract = `${baseUrl}/openapi.json`;

// Without `exactOptionalPropertyTypes`, for which the code that @hey-api/openapi-ts brings along is not written.
const workshop = new ClientWorkshop(t, join(packageRoot, 'test/e2e/generated-clients'));

workshop.write('orval.json', {
  postern: {
    input: { target: contract },
    output: { target: 'orval.ts', client: 'fetch', baseUrl, urlEncodeParameters: true },
  },
});
await Promise.all([
  workshop.generate('orval/dist/bin/orval.js', '--config', 'orval.json'),
  workshop.generate(
    '@hey-api/openapi-ts/bin/run.js',
    ...['--input', contract, '--output', 'hey-api', '--client', '@hey-api/client-fetch', '--no-log-file'],
  ),
]);

/** What both programs do and tell. */
const TOLD = {
  isListed: true,
  unit: 'inbox_slots',
  uploaded: 6,
  status: 'accepted',
  received: [true],
  nextCursor: null,
  isWhole: true,
};

t.test('their clients compile, with programs that leave out all that may be left out', async t => {
  t.strictSame(await workshop.compile(), []);
});

for (const program of ['hey-api.mjs', 'orval.mjs']) {
  t.test(`${program} works`, async t => {
    t.strictSame(await workshop.run(program, { BASE_URL: baseUrl, API_KEY: account.credential }), TOLD);
  });
}
