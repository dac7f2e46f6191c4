import t from 'tap';
import { isLoopback } from '../../../../src/domain/addresses.js';

t.test('its name and its addresses, as a configuration writes them and as URLs do', async t => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]']) t.ok(isLoopback(host), host);
});

t.test('what only looks like one of them is another machine', async t => {
  for (const host of [
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.evil.example',
    '128.0.0.1',
    '::2',
    '[::1].example',
    'unknown',
    '',
  ]) {
    t.notOk(isLoopback(host), host);
  }
});
