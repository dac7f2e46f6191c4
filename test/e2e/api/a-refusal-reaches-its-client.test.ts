import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';

const run = promisify(execFile);

/** Over the 8 MiB that a send may have, as an agent makes it that attaches a file of 15 MB. */
const BODY = JSON.stringify({ to: [], subject: 's', text: 'x'.repeat(20_000_000) });
const TIMES = 10;

/** It sends the whole body before it reads; a connection that is reset under it is an error. */
const PYTHON = `
import http.client, json, sys
port, path, key, file, times = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])
body = open(file, 'rb').read()
for n in range(times):
    client = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    client.request('POST', path, body, {'Authorization': 'Bearer ' + key, 'Content-Type': 'application/json'})
    answer = client.getresponse()
    print(answer.status, json.loads(answer.read())['error']['code'])
    client.close()
`;

t.test('a body over the limit is answered, whatever the client sends first', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const path = `/v1/inboxes/${agent.inboxId}/sent`;
  const url = `http://127.0.0.1:${box.httpPort}${path}`;
  const file = join(box.folder, 'body.json');
  writeFileSync(file, BODY);
  for (const [name, credential, expected] of [
    ['too large', agent.credential, '413 body_too_large'],
    ['without a valid key', 'nonsense', '401 unauthorized'],
  ] as const) {
    await t.test(`${name}: to fetch`, async t => {
      const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' };
      for (let n = 0; n < TIMES; n++) {
        const answer = await fetch(url, { method: 'POST', headers, body: BODY });
        const { error } = (await answer.json()) as { error: { code: string } };
        t.equal(`${answer.status} ${error.code}`, expected);
      }
    });
    await t.test(`${name}: to Python`, async t => {
      const args = ['-c', PYTHON, `${box.httpPort}`, path, credential, file, `${TIMES}`];
      const { stdout } = await run('python3', args);
      t.same(stdout.trim().split('\n'), Array(TIMES).fill(expected));
    });
    for (const [how, options] of [
      ['that waits for 100 Continue', []],
      ['that does not', ['-H', 'Expect:']],
      ['in chunks', ['-H', 'Transfer-Encoding: chunked', '-H', 'Expect:']],
    ] as const) {
      await t.test(`${name}: to curl ${how}`, async t => {
        const { stdout } = await run('curl', [
          ...['-sS', '-X', 'POST', '--data-binary', `@${file}`, '-w', '\n%{http_code}'],
          ...['-H', `Authorization: Bearer ${credential}`, '-H', 'Content-Type: application/json'],
          ...options,
          url,
        ]);
        const [body = '', status] = stdout.split('\n');
        t.equal(`${status} ${JSON.parse(body).error.code}`, expected);
      });
    }
  }
});
