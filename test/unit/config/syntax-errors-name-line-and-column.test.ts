import t from 'tap';
import { MINIMUM, problemsOf } from './load.js';

t.test('where the file is not TOML', async t => {
  t.match(problemsOf({ toml: `${MINIMUM}hostname = mail.example.com\n` }), [
    /^postern\.toml:3:12: is not TOML: invalid value\. Correct that line/,
  ]);
  t.match(problemsOf({ toml: '[smtp]\n[smtp]\n' }), [
    /^postern\.toml:2:\d+: is not TOML: trying to redefine/,
  ]);
});
