import fc from 'fast-check';
import t from 'tap';
import { renderInitialConfig } from '../../../src/config/example.js';
import { loaded } from './load.js';

t.test('it loads as it stands', async t => {
  const toml = renderInitialConfig({
    domain: 'agents.example.org',
    dataDir: '/srv/postern',
    settings: { 'smtp.port': 2525, 'service.public_url': 'https://agents.example.org' },
  });
  const config = loaded({ toml });
  t.same(config.mail.domains, ['agents.example.org']);
  t.equal(config.store.path, '/srv/postern');
  t.equal(config.smtp.port, 2525);
  t.equal(config.service.publicUrl, 'https://agents.example.org');
  t.ok(toml.split('\n').length < 40);
});

t.test('any folder name survives the writing', async t => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), name => {
        fc.pre(!/[\0/]/.test(name) && name !== '.' && name !== '..');
        const toml = renderInitialConfig({ domain: 'agents.example.org', dataDir: `/srv/${name}` });
        return loaded({ toml }).store.path === `/srv/${name}`;
      }),
    ),
  );
});

t.test('a setting that is no key is a mistake of the caller', async t => {
  const settings = { 'smtp.prot': 1 };
  t.throws(() => renderInitialConfig({ domain: 'a.example', dataDir: '/x', settings }), /smtp\.prot is not/);
});
