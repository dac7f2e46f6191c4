import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import t from 'tap';
import { dnsClient, IMPATIENT, withDns } from './with-dns.js';

t.test('a forged reply before the right one changes nothing', async t => {
  const { dns } = await withDns(t, {
    'id.test': { A: ['192.0.2.1'], fault: 'forged_id' },
    'question.test': { A: ['192.0.2.2'], fault: 'forged_question' },
  });
  t.match(await dns.lookup('id.test', 'A'), { kind: 'found', records: ['192.0.2.1'] });
  t.match(await dns.lookup('question.test', 'A'), { kind: 'found', records: ['192.0.2.2'] });
});

t.test('a reply to another question is none', async t => {
  const { dns } = await withDns(
    t,
    { 'other.test': { A: ['192.0.2.1'], fault: 'another_question' } },
    { times: IMPATIENT },
  );
  t.match(await dns.lookup('other.test', 'A'), { kind: 'failed', reason: /no answer in time/ });
});

t.test('ids and ports change with every question', async t => {
  const silent = createSocket('udp4');
  silent.bind(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.close());
  const ids = new Set<number>();
  const ports = new Set<number>();
  silent.on('message', (query, peer) => {
    ids.add(query.readUInt16BE(0));
    ports.add(peer.port);
  });
  const dns = dnsClient(t, { servers: [`127.0.0.1:${silent.address().port}`], times: IMPATIENT });
  await Promise.all(Array.from({ length: 40 }, (_, at) => dns.lookup(`n${at}.test`, 'A')));
  t.ok(ids.size > 60, `${ids.size} ids in 80 questions`);
  t.ok(ports.size > 60, `${ports.size} ports in 80 questions`);
});
