import { createRequire } from 'node:module';
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier.js';
import { spf } from 'mailauth/lib/spf/index.js';
import t from 'tap';

/** What src/mail/authenticate relies on in mailauth beyond its documentation. */

t.test('it is the version that was read, with the suffix list that we use too', async t => {
  const require = createRequire(import.meta.url);
  const { version, dependencies } = require('mailauth/package.json') as {
    version: string;
    dependencies: Record<string, string>;
  };
  t.equal(version, '4.13.3', 'read the new sources, then change this line');
  const tldts = require('tldts/package.json') as { version: string };
  t.equal(dependencies.tldts, tldts.version);
});

t.test('a verifier reads every address of every From from the header that it is given', async t => {
  const verifier = new DkimVerifier({ sender: 'x@invalid' });
  const lines = ['From: A <a@b.example>, "c@d.example" <e@f.example>', 'FROM: g@h.example'];
  await verifier.messageHeaders({ parsed: lines.map(line => ({ key: 'from', line: Buffer.from(line) })) });
  t.same(verifier.headerFrom, ['a@b.example', 'e@f.example', 'g@h.example']);
});

t.test('spf asks the resolver alone, takes its errors by their codes, and ours as its result', async t => {
  const asked: string[] = [];
  const evaluate = async (answer: (name: string) => string[][]): Promise<string> => {
    const resolver = async (name: string, type: string): Promise<never[]> => {
      asked.push(`${type} ${name}`);
      return answer(name) as never[];
    };
    const options = { sender: 'a@b.example', ip: '192.0.2.1', helo: 'h.example', mta: 'unknown', resolver };
    return (await spf(options)).status.result;
  };
  const failing = (fields: object) => () => {
    throw Object.assign(new Error('x'), fields);
  };
  t.equal(await evaluate(() => [['v=spf1 ip4:192.0.2.0/24', ' -all']]), 'pass');
  t.same(asked, ['TXT b.example']);
  t.equal(await evaluate(failing({ code: 'ENOTFOUND' })), 'none');
  t.equal(await evaluate(failing({ code: 'ENODATA' })), 'none');
  t.equal(await evaluate(failing({ code: 'ETIMEOUT' })), 'temperror');
  t.equal(await evaluate(failing({ spfResult: { error: 'permerror' } })), 'permerror');
  const included = (name: string): string[][] => {
    if (name === 'b.example') return [['v=spf1 include:c.example -all']];
    throw Object.assign(new Error('x'), { code: 'ETIMEOUT' });
  };
  t.equal(await evaluate(included), 'temperror', 'also in what is included');
});
