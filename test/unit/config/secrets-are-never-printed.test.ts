import { inspect } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { renderShown, showConfig } from '../../../src/config/explain.js';
import { load, MINIMUM, problemsOf } from './load.js';

const external = `${MINIMUM}[redis]\nmode = "external"\n`;
const PASSWORD = 'hunter2hunter2';

t.test('not by the configuration, however it is printed', async t => {
  const result = load({ toml: `${external}url = "redis://:${PASSWORD}@redis.example.com"\n` });
  if (!result.ok) return t.fail('does not load');
  const { config, sources } = result;
  const printed = [
    inspect(config, { depth: 9, showHidden: true }),
    JSON.stringify(config),
    `${config.redis.url}`,
    String(config.redis.url),
    JSON.stringify(showConfig(config, sources)),
    renderShown(showConfig(config, sources)),
  ];
  for (const text of printed) t.notMatch(text, PASSWORD);
  t.match(renderShown(showConfig(config, sources)), 'redis.url = (set)');
  t.match(inspect(config), 'url: (set)');
  t.equal(config.redis.url?.reveal(), `redis://:${PASSWORD}@redis.example.com`);
});

t.test('not by a problem, whatever is wrong with the value', async t => {
  const around = fc.constantFrom<[string, string]>(
    ['redis://:', '@'],
    ['http://', '@redis.example.com'],
    ['redis://redis.example.com/', ''],
    ['', ''],
    ['redis:', '@redis.example.com'],
  );
  const noise = fc.stringMatching(/^[a-z0-9:/@?#[\]%]{0,8}$/);
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(around, noise, fc.boolean(), ([before, after], middle, inFile) => {
        const value = `${before}${PASSWORD}${middle}${after}`;
        const given = inFile
          ? { toml: `${external}url = ${JSON.stringify(value)}\n` }
          : { toml: external, env: { POSTERN_REDIS_URL: value } };
        return problemsOf(given).every(problem => !problem.includes(PASSWORD));
      }),
      { numRuns: 60 },
    ),
  );
});

t.test('not by a syntax error on its line', async t => {
  const broken = [
    `${external}url = redis://:${PASSWORD}@redis.example.com\n`,
    `${external}url = "redis://:${PASSWORD}@redis.example.com\n`,
    `${external}url = "redis://:${PASSWORD}@redis.example.com" "\n`,
    `${external}url = "a"\nurl = "redis://:${PASSWORD}@redis.example.com"\n`,
  ];
  for (const toml of broken) {
    const problems = problemsOf({ toml });
    t.equal(problems.length, 1);
    t.notMatch(problems[0], PASSWORD);
  }
});

t.test('not when it stands under a wrong name or in the wrong place', async t => {
  const url = `"redis://:${PASSWORD}@redis.example.com"`;
  const given = [
    { toml: `${external}ulr = ${url}\n` },
    { toml: `url = ${url}\n${external}` },
    { toml: `${MINIMUM}[redis]\nmode = "managed"\nurl = ${url}\n` },
    { toml: `${external}url = [${url}]\n` },
    { toml: `${external}url = { a = ${url} }\n` },
    { toml: `${MINIMUM}[service]\npublic_url = ${url}\n` },
    { toml: external, env: { POSTERN_REDIS_ULR: url } },
  ];
  for (const one of given) {
    const problems = problemsOf(one);
    t.ok(problems.length > 0);
    t.notMatch(problems.join('\n'), PASSWORD);
  }
});
