import t from 'tap';
import { IMPATIENT, withDns } from './with-dns.js';

t.test('a cut reply is asked for again over TCP', async t => {
  const { dns, server } = await withDns(t, { 'cut.test': { A: ['192.0.2.1'], fault: 'truncate' } });
  t.match(await dns.lookup('cut.test', 'A'), { kind: 'found', records: ['192.0.2.1'] });
  t.same(
    server.asked.map(({ transport }) => transport),
    ['udp', 'tcp'],
  );
});

t.test('so is one that is larger than we take over UDP', async t => {
  const addresses = Array.from({ length: 200 }, (_, at) => `192.0.2.${at}`);
  const { dns, server } = await withDns(t, { 'large.test': { A: addresses } });
  t.match(await dns.lookup('large.test', 'A'), { kind: 'found', records: addresses });
  t.equal(server.asked.at(-1)?.transport, 'tcp');
});

t.test('silence over TCP ends too', async t => {
  const { dns } = await withDns(t, { 'mute.test': { fault: 'truncate_silent' } }, { times: IMPATIENT });
  t.match(await dns.lookup('mute.test', 'A'), { kind: 'failed', reason: /no answer in time/ });
});
