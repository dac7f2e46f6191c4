import fc from 'fast-check';
import t from 'tap';
import { KEY_LIST } from '../../../src/config/key-list.js';
import { editDistance, nearestName } from '../../../src/config/texts.js';
import { MINIMUM, problemsOf } from './load.js';

t.test('a key of the file', async t => {
  t.same(problemsOf({ toml: `${MINIMUM}[smtp]\nprot = 2525\n` }), [
    'postern.toml: smtp.prot: is not a known key. Did you mean smtp.port? "postern config explain" lists all keys.',
  ]);
});

t.test('a section of the file, once for all its keys', async t => {
  t.same(problemsOf({ toml: `${MINIMUM}[smpt]\nport = 2525\nhost = "::"\n` }), [
    'postern.toml: smpt: is not a known section. Did you mean [smtp]? "postern config explain" lists all keys.',
  ]);
});

t.test('a key that belongs to another section', async t => {
  const [problem] = problemsOf({ toml: `${MINIMUM}[service]\npath = "/srv/mail"\n` });
  t.match(problem, 'Did you mean store.path?');
});

t.test('a key outside all sections', async t => {
  const [problem] = problemsOf({ toml: `domains = ["agents.example.com"]\n${MINIMUM}` });
  t.match(problem, 'Did you mean mail.domains?');
});

t.test('a key where a section belongs', async t => {
  const [problem] = problemsOf({ toml: `smtp = 25\n${MINIMUM}` });
  t.equal(problem, 'postern.toml: smtp: is a section, not a key. Write [smtp] and its keys below it.');
});

t.test('names that JavaScript objects have of their own are as unknown as others', async t => {
  const names = ['constructor', 'toString', 'hasOwnProperty'];
  const toml = `${MINIMUM}${names.map(name => `[${name}]\nx = 1\n[smtp.${name}]\nx = 1\n`).join('')}`;
  const problems = problemsOf({ toml });
  t.equal(problems.length, 2 * names.length);
  t.ok(problems.every(problem => problem.includes('is not a known section')));
});

t.test('an environment variable', async t => {
  t.same(problemsOf({ toml: MINIMUM, env: { POSTERN_SMTP_PROT: '2525' } }), [
    'POSTERN_SMTP_PROT: is not a known environment variable. Did you mean POSTERN_SMTP_PORT? "postern config explain" lists them all.',
  ]);
});

t.test('variables without our prefix are nobody’s business', async t => {
  t.same(problemsOf({ toml: MINIMUM, env: { SMTP_PORT: 'x', POSTERNS_SMTP_PORT: 'x', HOME: '/root' } }), []);
});

t.test('no known key is nearer to a slip of the finger than the one that is named', async t => {
  const ids = KEY_LIST.map(key => key.id);
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(
        fc.constantFrom(...ids),
        fc.nat(),
        fc.constantFrom('drop', 'double', 'swap'),
        (id, at, slip) => {
          const i = at % (id.length - 1);
          const typed = {
            drop: id.slice(0, i) + id.slice(i + 1),
            double: id.slice(0, i) + id.slice(i, i + 1) + id.slice(i),
            swap: id.slice(0, i) + id.slice(i + 1, i + 2) + id.slice(i, i + 1) + id.slice(i + 2),
          }[slip];
          return editDistance(typed, nearestName(typed, ids)) <= editDistance(typed, id);
        },
      ),
    ),
  );
});

t.test('the distance between names is a number of slips, the same from both sides', async t => {
  t.equal(editDistance('prot', 'port'), 1);
  t.equal(editDistance('pot', 'port'), 1);
  t.equal(editDistance('poort', 'port'), 1);
  t.equal(editDistance('pork', 'port'), 1);
  t.equal(editDistance('', 'port'), 4);
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        return editDistance(a, b) === editDistance(b, a) && (editDistance(a, b) === 0) === (a === b);
      }),
    ),
  );
});
