import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { httpClients } from '../../../src/app/descriptors.js';
import { HOOK_SOCKETS } from '../../../src/app/hooking.js';
import { memoryLimit, memoryNeeded, memoryNeeds } from '../../../src/app/memory.js';
import { type Config, loadConfig } from '../../../src/config/load-config.js';
import { SEARCH_FILES } from '../../../src/search/word-threads.js';
import { silent } from '../usecases/with-house.js';

/** Files of the kernel as they would be, by path. */
function kernel(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'kernel-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

function configOf(env: Readonly<Record<string, string>> = {}): Config {
  const loaded = loadConfig({ env: { POSTERN_MAIL_DOMAINS: 'example.org', ...env }, cwd: '/', lookIn: [] });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
}

t.test('the least of all groups above counts', async t => {
  const root = kernel({
    'proc/self/cgroup': '0::/system.slice/postern.service\n',
    'sys/fs/cgroup/system.slice/postern.service/memory.max': 'max\n',
    'sys/fs/cgroup/system.slice/postern.service/memory.high': '3000000\n',
    'sys/fs/cgroup/system.slice/memory.max': '2000000\n',
  });
  t.same(memoryLimit(root), { bytes: 2_000_000, file: join(root, 'sys/fs/cgroup/system.slice/memory.max') });
});

t.test('so does the limit of version 1; a number near 2^63 is none', async t => {
  const of = (limit: string) =>
    memoryLimit(
      kernel({
        'proc/self/cgroup': '5:cpu,cpuacct:/x\n4:memory:/a\n0::/y\n',
        'sys/fs/cgroup/memory/a/memory.limit_in_bytes': limit,
        'sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      }),
    );
  t.equal(of('1048576\n')?.bytes, 1_048_576);
  t.equal(of('9223372036854771712\n'), null);
});

t.test('where nothing can be read there is none', async t => {
  t.equal(memoryLimit(kernel({})), null);
});

t.test('what is needed follows the configuration', async t => {
  const few = memoryNeeded(configOf({ POSTERN_PARSE_WORKERS: '1' }));
  const more = memoryNeeded(configOf({ POSTERN_PARSE_WORKERS: '3' }));
  t.ok(more - few >= 2 * 256 * 2 ** 20, `${more - few} bytes for two threads`);
  const direct = (connections: string) =>
    configOf({ POSTERN_RELAY_TRANSPORT: 'direct', POSTERN_RELAY_DIRECT_MAX_CONNECTIONS: connections });
  const delivering = memoryNeeded(direct('200')) - memoryNeeded(direct('100'));
  t.ok(delivering >= 100 * 5 * 2 ** 20, `${delivering} bytes for a hundred connections: each has a message`);
  const external = { POSTERN_REDIS_MODE: 'external', POSTERN_REDIS_URL: 'redis://127.0.0.1/0' };
  t.equal(memoryNeeds(configOf(external)).at(-1)?.bytes, 0, 'a Redis elsewhere costs nothing here');
});

t.test('connections of the API leave descriptors for SMTP and the store', async t => {
  t.equal(httpClients(configOf(), false, silent, 65_536), 2_000);
  t.equal(httpClients(configOf(), false, silent, 2_048), 2_048 - 1_000 - SEARCH_FILES - HOOK_SOCKETS - 256);
  const direct = configOf({ POSTERN_RELAY_DIRECT_MAX_CONNECTIONS: '100' });
  t.equal(
    httpClients(direct, true, silent, 3_072),
    3_072 - 1_000 - SEARCH_FILES - HOOK_SOCKETS - 256 - 300,
    'mail servers and resolvers too',
  );
  t.equal(httpClients(configOf(), false, silent, 512), 16, 'a few are always served');
});

t.test('direct delivery needs memory for the messages in hand and for answers of the DNS', async t => {
  const direct = memoryNeeded(configOf({ POSTERN_RELAY_TRANSPORT: 'direct' }));
  const local = memoryNeeded(configOf({ POSTERN_RELAY_TRANSPORT: 'local' }));
  t.equal(direct - local, 50 * 5.25 * 2 ** 20 + 8 * 2 ** 20);
  t.equal(memoryNeeded(configOf(), true), direct, 'also where it only finishes what was accepted before');
});
