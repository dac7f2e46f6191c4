import t from 'tap';
import { PosternBox } from '../support/box/postern-box.js';
import { CLOCK_STARTS_AT, clockEnv, KEPT_SCHEMAS, NO_REDIS, unpackStore } from './schema-3/frozen-past.js';
import { afterWrites, sameAnswers, soundAndSwept } from './schema-3/serve-past.js';

// Two dozen daemons are started.
t.setTimeout(460_000);

const env = { ...clockEnv(CLOCK_STARTS_AT), ...NO_REDIS };

for (const schema of KEPT_SCHEMAS) {
  t.test(`on a store of schema ${schema}`, async t => {
    const box = PosternBox.create(t, { dataDir: unpackStore(t, schema), env });
    const kills = { written: 0, ready: 0 };
    for (const writes of schema === 3 ? [1, 1, 2, 3, 5, 8, 13] : [1, 3]) {
      kills[await afterWrites(box, writes)] += 1;
      await box.kill();
    }
    t.ok(
      kills.written > 0,
      `killed ${kills.written} times before it was ready, ${kills.ready} times behind it`,
    );
    await box.start();
    await sameAnswers(t, box);
    await soundAndSwept(t, box);
  });
}
