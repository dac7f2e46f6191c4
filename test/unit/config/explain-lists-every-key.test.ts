import t from 'tap';
import { explainKeys, renderExplanation } from '../../../src/config/explain.js';
import { KEY_LIST } from '../../../src/config/key-list.js';

t.test('as text', async t => {
  const text = renderExplanation();
  for (const key of KEY_LIST) t.ok(text.includes(`\n  ${key.id} (${key.variable})\n`), key.id);
  t.match(text, 'POSTERN_CONFIG');
  t.ok(text.split('\n').every(line => line.length <= 100));
});

t.test('as JSON', async t => {
  t.same(
    explainKeys().map(explained => explained.key),
    KEY_LIST.map(key => key.id),
  );
  t.match(
    explainKeys().find(explained => explained.key === 'smtp.port'),
    {
      section: 'smtp',
      name: 'port',
      environment: 'POSTERN_SMTP_PORT',
      type: 'port',
      default: 25,
      default_from: null,
      required: false,
      secret: false,
    },
  );
  t.match(
    explainKeys().find(explained => explained.key === 'redis.url'),
    { default: null, secret: true },
  );
  t.match(
    explainKeys().find(explained => explained.key === 'mail.domains'),
    { default: null, required: true },
  );
});
