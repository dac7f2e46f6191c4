// node make.mjs CHECKOUT: writes store.mdb.br and answers.json beside itself, with the product as it is built in
// CHECKOUT. README.md says more.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import {
  CLOCK_STARTS_AT,
  clockEnv,
  NO_REDIS,
  PAST,
  unpackStore,
} from '../../../dist/test/upgrade/schema-3/frozen-past.js';
import { liveFirstDay } from './first-day.mjs';
import { recordAnswers } from './record.mjs';
import { liveThirdDay } from './third-day.mjs';

const HOUR_MS = 3_600_000;
const checkout = resolve(process.argv[2] ?? '.');
const product = path => import(join(checkout, 'dist', path));
const { PosternBox } = await product('test/support/postern-box.js');
const { startFakeSmarthost } = await product('test/support/fake-smarthost.js');
const { stall } = await product('test/support/smarthost-script.js');
const { deliver } = await product('test/support/deliver.js');
const { openStore, readFacts, untilFacts } = await product('test/support/store-facts.js');

const endings = [];
const t = { teardown: end => endings.unshift(end) };
const smarthost = await startFakeSmarthost();
t.teardown(() => smarthost.stop());
const box = PosternBox.create(t, {
  env: {
    POSTERN_RELAY_TRANSPORT: 'smarthost',
    POSTERN_RELAY_SMARTHOST_HOST: '127.0.0.1',
    POSTERN_RELAY_SMARTHOST_PORT: `${smarthost.port}`,
    POSTERN_RELAY_SMARTHOST_TLS: 'none',
    // Two messages are in flight at once, and a third one waits.
    POSTERN_RELAY_SMARTHOST_MAX_CONNECTIONS: '1',
    POSTERN_PARSE_WORKERS: '1',
  },
});

/** What both days are made with. */
const life = {
  product,
  box,
  smarthost,
  clock: 0,
  /** Name -> credential. */
  credentials: {},

  /** What is started from now on takes it to be this time. */
  setClock(ms) {
    life.clock = ms;
    Object.assign(box.env, clockEnv(ms));
  },

  /** A command; the next one comes a quarter of a second later. */
  async cli(...args) {
    const document = await box.cliJson(...args);
    life.setClock(life.clock + 250);
    return document;
  },

  async call(api, method, path, body) {
    const answer = await api.request(method, path, body === undefined ? {} : { body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.bytes}`);
    return answer.json();
  },

  facts: claim => untilFacts(box, claim),

  /** A message that arrives and is parsed. */
  async receive(who, to, message) {
    const id = await deliver(box, to, message);
    await who.api.finished(id);
    return id;
  },

  /** How large the content beside a record is; undefined when there is none. */
  async sizeIn(table, id) {
    const store = openStore(box);
    const size = store.read(reader => reader.get(table, id))?.length;
    await store.close();
    return size;
  },

  /**
   * Sends what the smarthost holds up: two are started, the others wait, and their ids are given. The requests end
   * with the daemon.
   */
  async holdUp(send, ...bodies) {
    smarthost.script = { dot: stall };
    for (const body of bodies) {
      const { sent } = await life.facts(() => true);
      send(body).catch(() => {});
      await life.facts(now => now.sent.length > sent.length);
    }
    const isStarted = ({ attempt }) => attempt === 'started';
    const { sent } = await life.facts(now => now.sent.filter(isStarted).length === 2);
    return sent.filter(({ attempt }) => attempt === 'reserved').map(({ id }) => id);
  },
};

// By the time of the third day keys, charges and phrases of the first are over, and a send that waited is held.
life.setClock(CLOCK_STARTS_AT - 50 * HOUR_MS);
await box.start();
const people = await liveFirstDay(life);
await box.kill();
smarthost.script = {};
life.setClock(CLOCK_STARTS_AT - 2 * HOUR_MS);
await box.start();
const { store, later, ...asked } = await liveThirdDay(life, people);

const { messages: _messages, sent: _sent, ...facts } = readFacts(store);
console.log('frozen', JSON.stringify(facts));
await store.copyTo(box.folder);
const bytes = readFileSync(join(box.folder, 'data.mdb'));
const params = {
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
};
writeFileSync(join(PAST, 'store.mdb.br'), brotliCompressSync(bytes, { params }));

const past = PosternBox.create(t, {
  dataDir: unpackStore(t),
  env: { ...clockEnv(CLOCK_STARTS_AT), ...NO_REDIS },
});
const answers = await recordAnswers(past, { ...asked, credentials: life.credentials });
const all = { ...answers, later: { ...answers.later, ...later } };
writeFileSync(join(PAST, 'answers.json'), JSON.stringify(all));
console.log(`${bytes.length} bytes, ${all.requests.length} answers`);
for (const end of endings) await end();
process.exit(0);
