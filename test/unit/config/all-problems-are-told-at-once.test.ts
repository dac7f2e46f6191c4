import fc from 'fast-check';
import t from 'tap';
import { KEY_LIST } from '../../../src/config/key-list.js';
import { load, MINIMUM, problemsOf } from './load.js';

t.test('of the file, of the environment, of what is missing and of what does not go together', async t => {
  const toml = '[smtp]\nport = "x"\ntls_cert = "/cert.pem"\nprot = 1\n[redis]\nmode = "external"\n';
  const problems = problemsOf({ toml, env: { POSTERN_HTTP_PORT: 'x', POSTERN_HTTP_PROT: '1' } });
  t.match(problems, [
    /^postern\.toml: smtp\.prot: is not a known key/,
    /^POSTERN_HTTP_PROT: is not a known environment variable/,
    /^postern\.toml: smtp\.port: "x" is not a whole number/,
    /^POSTERN_HTTP_PORT: "x" is not a whole number/,
    /^mail\.domains: is not set. Set it in \[mail\], as in domains = \["agents\.example\.com"\], or with POSTERN_MAIL_DOMAINS\.$/,
    /redis\.url is not set/,
    /smtp\.tls_key is not/,
  ]);
  t.equal(problems.length, 7);
});

t.test('a wrong value is one problem, not also those of the keys that depend on it', async t => {
  t.equal(problemsOf({ toml: `${MINIMUM}[service]\npublic_url = "x"\n` }).length, 1);
  t.equal(problemsOf({ toml: '[mail]\ndomains = ["x"]\npostmaster_inbox = "a@b.example"\n' }).length, 1);
  t.equal(problemsOf({ toml: `${MINIMUM}[smtp]\ntls_cert = 1\ntls_key = "/k"\n` }).length, 1);
});

t.test('a file that cannot be read hides what is missing, not what the environment gets wrong', async t => {
  const problems = problemsOf({ toml: '[mail\n', env: { POSTERN_HTTP_PORT: 'x' } });
  t.match(problems, [/^postern\.toml:1:\d+: is not TOML/, /^POSTERN_HTTP_PORT: /]);
  t.equal(problems.length, 2);
});

t.test('whatever the environment holds, there is an answer with words in it', async t => {
  const variable = fc.constantFrom(...KEY_LIST.map(key => key.variable));
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.webUrl(),
    fc.ipV6(),
    fc.integer().map(String),
    fc.double().map(String),
  );
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.dictionary(variable, value, { maxKeys: 5 }), env => {
        const result = load({ env });
        if (result.ok) return true;
        return result.problems.every(({ where, what, fix }) => where !== '' && what !== '' && fix !== '');
      }),
      { numRuns: 300 },
    ),
  );
});
