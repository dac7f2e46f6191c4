import { chmodSync, chownSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import t from 'tap';
import type { MessageId } from '../../../../src/domain/ids.js';
import { newId } from '../../../../src/domain/ids.js';
import { readClock } from '../../../../src/ops/read-clock.js';
import { metaTable } from '../../../../src/store/engine/meta.js';
import { addPending, removePending } from '../../../../src/store/records/pending.js';
import { createAgent } from '../../../support/box/agents.js';
import { DOMAIN } from '../../../support/box/postern-box.js';
import { makeChain, makeIdentity } from '../../../support/certificate.js';
import { DoctorBox, greeter, HOST, type Look } from '../../../support/doctor/doctor-box.js';
import { freePort, runRedis } from '../../../support/redis/own-redis.js';
import { temporaryFolder } from '../../../support/redis/redis.js';
import { deliver } from '../../../support/smtp/deliver.js';

const DAY_MS = 86_400_000;
const later = (days: number) => () => ({ ...readClock(), at: Date.now() + days * DAY_MS });

t.test('nothing is found on a healthy box, and each of many faults is', async t => {
  const doctor = await DoctorBox.start(t);
  const { box, dns } = doctor;
  const isWell = async (): Promise<void> => {
    const { code, findings } = await doctor.look();
    t.strictSame(findings, []);
    t.equal(code, 0);
  };
  await isWell();
  t.match((await doctor.run(['doctor', '--try', 'far.test'])).out, /^Nothing is wrong\.\n$/);

  const seen = new Set<string>();
  /** Looks while a fault is there, and makes it good again. */
  const finds = async (id: string, look: Look, undo: () => unknown = () => {}): Promise<void> => {
    const { code, findings } = await doctor.look(look);
    const found = findings.find(one => one.id === id);
    t.ok(found, `${id}, and ${findings.map(one => one.id).join(' ')}`);
    for (const { what, why, fix } of findings) t.ok(what !== '' && why !== '' && fix !== '');
    t.equal(code, findings.some(({ severity }) => severity === 'error') ? 1 : 0);
    seen.add(id);
    await undo();
  };
  const env = (values: Record<string, string | undefined>): Look => ({ env: values });
  const modes = async (id: string, file: string, wrong: number, right: number): Promise<void> => {
    chmodSync(file, wrong);
    await finds(id, {}, () => chmodSync(file, right));
  };

  // The configuration and who may read what.
  await finds('config_wrong', env({ POSTERN_HTTP_PORT: '99999' }));
  await finds('no_store', env({ POSTERN_STORE_PATH: join(doctor.folder, 'nowhere') }));
  await finds('config_unwise', env({ POSTERN_ADMIN_PORT: '9125', POSTERN_ADMIN_HOST: '0.0.0.0' }));
  await modes('config_readable', doctor.configFile, 0o644, 0o600);
  await modes('config_writable', doctor.configFile, 0o620, 0o600);
  await modes('data_open', box.dataDir, 0o755, 0o700);
  await modes('secret_open', join(doctor.folder, 'key.pem'), 0o644, 0o600);
  const host = { POSTERN_RELAY_TRANSPORT: 'smarthost', POSTERN_RELAY_SMARTHOST_HOST: '127.0.0.1' };
  const password = join(doctor.folder, 'no-such-file');
  const user = { POSTERN_RELAY_SMARTHOST_USER: 'x', POSTERN_RELAY_SMARTHOST_PASSWORD_FILE: password };
  await finds('secret_missing', env({ ...host, ...user }));
  if (process.getuid?.() === 0) {
    const stray = join(box.dataDir, 'stray');
    writeFileSync(stray, '');
    chownSync(stray, 12_345, 12_345);
    await finds('data_owner', {}, () => rmSync(stray));
  }

  // The certificate.
  const folder = temporaryFolder(t);
  const cert = (certFile: string, keyFile: string) =>
    env({ POSTERN_SMTP_TLS_CERT: certFile, POSTERN_SMTP_TLS_KEY: keyFile });
  await finds('no_certificate', env({ POSTERN_SMTP_TLS_CERT: undefined, POSTERN_SMTP_TLS_KEY: undefined }));
  await finds('certificate_expired', { readClock: later(100) });
  await finds('certificate_expires', { readClock: later(80) });
  await finds('certificate_name', env({ POSTERN_MAIL_HOSTNAME: 'other.example.org' }));
  const chain = makeChain(folder, `DNS:${HOST}`, 90);
  await finds('certificate_key', cert(chain.certFile, join(doctor.folder, 'key.pem')));
  await finds('certificate_chain', cert(join(folder, 'leaf.pem'), chain.keyFile));
  await finds('certificate_unreadable', cert(doctor.configFile, chain.keyFile));
  const own = makeIdentity(temporaryFolder(t), `DNS:${HOST}`);
  await finds('certificate_self_signed', cert(own.certFile, own.keyFile));

  // The machine.
  await finds('node_ended', { nodeVersion: 'v18.20.0', readClock });
  await finds('node_ended', { nodeVersion: 'v21.7.0' });
  const april = Date.parse('2028-04-01');
  await finds('node_ends', { nodeVersion: 'v24.1.0', readClock: () => ({ ...readClock(), at: april }) });
  await finds('clock_in_doubt', { readClock: later(1) });
  doctor.timeSays('no');
  await finds('clock_unsynchronised', {}, () => doctor.timeSays('yes'));
  for (const [id, facts] of [
    ['unit_failed', { ActiveState: 'failed' }],
    ['unit_disabled', { UnitFileState: 'disabled' }],
    ['unit_changed', { NeedDaemonReload: 'yes' }],
    ['unit_restarts', { NRestarts: '3' }],
    ['unit_old', { Type: 'exec' }],
    ['unit_memory', { MemoryHigh: '1048576' }],
  ] as const) {
    doctor.unitSays(facts);
    await finds(id, {}, () => doctor.unitSays({}));
  }
  const { bavail, bsize } = statfsSync(box.dataDir);
  const freeMib = (bavail * bsize) / 2 ** 20;
  await finds(
    'no_room',
    env({ POSTERN_STORE_DISK_FLOOR_MIB: String(Math.min(1_048_576, Math.ceil(2 * freeMib))) }),
  );
  await finds('disk_low', env({ POSTERN_STORE_DISK_FLOOR_MIB: String(Math.floor(0.7 * freeMib)) }));

  // Listeners and the proxy.
  const nobody = String(await freePort());
  await finds('smtp_silent', env({ POSTERN_SMTP_PORT: nobody }));
  await finds('smtp_other', env({ POSTERN_SMTP_PORT: String(await greeter(t, '220 other.test')) }));
  await finds('not_ready', env({ POSTERN_HTTP_PORT: nobody }));
  await finds('public_url', env({ POSTERN_SERVICE_PUBLIC_URL: `http://127.0.0.1:${nobody}` }));
  await finds('proxies_wide', env({ POSTERN_HTTP_TRUSTED_PROXIES: '0.0.0.0/0' }));
  await finds('proxy_untrusted', env({ POSTERN_SERVICE_PUBLIC_URL: 'https://mail.example.invalid' }));

  // The DNS.
  const records: [string, string, string][] = [
    ['dns_mx', DOMAIN, 'MX'],
    ['dns_spf', DOMAIN, 'TXT'],
    ['dns_address', HOST, 'A'],
    ['dns_ptr', '1.0.0.127.in-addr.arpa', 'PTR'],
    ['dns_dmarc', `_dmarc.${DOMAIN}`, 'TXT'],
    ['dns_dkim', [...doctor.zones.keys()].find(name => name.includes('._domainkey.')) ?? '', 'TXT'],
  ];
  for (const [id, name, type] of records) {
    const { [type]: _gone, ...rest } = doctor.zones.get(name) as Record<string, readonly unknown[]>;
    dns.set(name, rest);
    await finds(id, {}, () => doctor.restore());
  }
  await finds('dns_fails', env({ POSTERN_DNS_SERVERS: `127.0.0.1:${nobody}` }));
  await finds('no_dkim_key', env({ POSTERN_MAIL_DOMAINS: `${DOMAIN},second.example.org` }));
  await finds('outgoing_closed', env({ POSTERN_RELAY_DIRECT_PORT: nobody }));

  // Redis.
  const path = temporaryFolder(t);
  await finds('redis_missing', env({ PATH: path }));
  const port = await freePort();
  const external = env({ POSTERN_REDIS_MODE: 'external', POSTERN_REDIS_URL: `redis://127.0.0.1:${port}` });
  await finds('redis_away', external);
  const gone = temporaryFolder(t);
  await runRedis(t, port, ['--dir', gone]);
  t.strictSame((await doctor.look(external)).findings, []);
  const redis = new Redis(port, '127.0.0.1');
  t.teardown(() => redis.disconnect());
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await finds('redis_evicts', external, () => redis.config('SET', 'maxmemory-policy', 'noeviction'));
  rmSync(gone, { recursive: true });
  await redis.set('a', 'b');
  await redis.bgsave().catch(() => {});
  while (!(await redis.info('persistence')).includes('rdb_last_bgsave_status:err'));
  await finds('redis_cannot_save', external);

  // What waits, and the backup.
  const hourAgo = Date.now() - 3_600_000;
  const id = newId<MessageId>(hourAgo);
  await doctor.withStore(async store => {
    await store.write(writer => addPending(writer, hourAgo, { kind: 'relay-held', id }));
    await finds('sends_held', {});
    await store.write(writer => removePending(writer, { kind: 'relay-held', dueAt: hourAgo, id }));
    await doctor.backedUp(store, Date.now() - 5 * DAY_MS);
    await finds('backup_old', {});
    await store.write(writer => writer.remove(metaTable, 'lastBackup'));
    await finds('no_backup', {});
    await doctor.backedUp(store, Date.now());
  });
  await isWell();
  const agent = await createAgent(box);
  const large = `Subject: Large\r\n\r\n${'All of it.\r\n'.repeat(1_350_000)}`;
  for (let n = 0; n < 2; n++) await deliver(box, agent.address, large);
  await finds('map_low', env({ POSTERN_STORE_MAP_SIZE_GIB: '0.03125' }));
  const ports = env({ POSTERN_SMTP_PORT: String(box.smtpPort), POSTERN_HTTP_PORT: String(box.httpPort) });
  await box.stop();
  await finds('daemon_down', ports);
  await doctor.withStore(async store => {
    await store.write(writer => {
      addPending(writer, hourAgo, { kind: 'parse', id });
      addPending(writer, hourAgo, { kind: 'relay', id });
    });
  });
  await finds('parsing_waits', ports);
  await finds('sends_wait', ports);

  const text = await doctor.run(['doctor', '--try', 'far.test'], ports);
  t.equal(text.code, 1);
  t.match(
    text.err,
    /ERROR daemon_down: no daemon serves the store\n {2}why {2}\S.*\n {2}fix {2}systemctl start postern/,
  );
  t.ok(seen.size >= 20, `${seen.size} kinds of faults`);
});
