import t from 'tap';
import { renderShown, showConfig } from '../../../src/config/explain.js';
import { KEY_LIST } from '../../../src/config/key-list.js';
import { load, MINIMUM } from './load.js';

t.test('every key shows its effective value and where it comes from', async t => {
  const result = load({ toml: MINIMUM, env: { POSTERN_SMTP_PORT: '2525' } });
  if (!result.ok) return t.fail('does not load');
  const shown = showConfig(result.config, result.sources);
  t.same(
    shown.map(one => one.key),
    KEY_LIST.map(key => key.id),
  );
  const of = (key: string) => shown.find(one => one.key === key);
  t.match(of('mail.domains'), { value: ['agents.example.com'], source: 'file', from: /postern\.toml$/ });
  t.match(of('smtp.port'), { value: 2525, source: 'environment', from: 'POSTERN_SMTP_PORT' });
  t.match(of('http.port'), { value: 8025, source: 'default', from: null });
  t.match(of('smtp.tls_cert'), { value: null, source: 'default' });
  t.match(of('redis.url'), { value: '(unset)', source: 'default' });

  const text = renderShown(shown);
  t.match(text, /^mail\.domains = \["agents\.example\.com"\] +# .*postern\.toml$/m);
  t.match(text, /^smtp\.port = 2525 +# POSTERN_SMTP_PORT$/m);
  t.match(text, /^smtp\.tls_cert = \(unset\) +# default$/m);
});
