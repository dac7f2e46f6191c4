import { randomInt } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { AccountId, InboxId } from '../../src/domain/ids.js';
import { searchFolder } from '../../src/search/word-threads.js';
import { createAgent } from '../support/box/agents.js';
import { startBox } from '../support/box/postern-box.js';
import { openStore } from '../support/box/store-facts.js';
import { deliver } from '../support/smtp/deliver.js';
import { foundBeside, untilFed } from '../unit/search/with-index.js';

const KILLS = 4;
const PER_KILL = 40;

t.setTimeout(460_000);

t.test(
  'whenever it is killed, deleted or damaged, the index finds what is stored and nothing else',
  async t => {
    const box = await startBox(t);
    const agent = await createAgent(box);
    const folder = { inboxId: agent.inboxId as InboxId, kind: 'received' } as const;
    let sent = 0;
    const letter = () => {
      sent += 1;
      return `Subject: letter${sent}x\r\n\r\ncommon word${sent}x ${'more text '.repeat(200)}\r\n`;
    };
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (let at = 0; at < PER_KILL; at += 1) await deliver(box, agent.address, letter());
      // A random moment is the point: before, within and after a batch.
      await delay(randomInt(300));
      await box.kill();
      await box.start();
    }
    const store = openStore(box);
    t.teardown(() => store.close());
    const accountId = agent.accountId as AccountId;
    const all = Array.from({ length: sent }, (_, at) => sent - at);
    await whole('after every kill');

    for (const name of readdirSync(searchFolder(box.dataDir))) rmSync(join(searchFolder(box.dataDir), name));
    const anew = box.hear(/a search index was made anew/);
    await deliver(box, agent.address, letter());
    all.unshift(sent);
    await anew;
    await whole('after it was deleted under the daemon');

    for (const name of readdirSync(searchFolder(box.dataDir))) {
      if (name.endsWith('.index'))
        writeFileSync(join(searchFolder(box.dataDir), name), Buffer.alloc(100_000, 7));
    }
    await box.restart();
    await deliver(box, agent.address, letter());
    all.unshift(sent);
    await whole('after it was damaged');
    t.match(await box.cliJson('search', 'status'), { accounts: 1, waiting: 0, rebuilding: [] });
    t.match(await box.cliJson('verify'), { sound: true });

    async function whole(when: string): Promise<void> {
      await untilAll();
      t.strictSame(await foundBeside(store, accountId, folder, 'common'), all, when);
      t.strictSame(await foundBeside(store, accountId, folder, '"common word17x"'), [17], when);
    }

    async function untilAll(): Promise<void> {
      for (let looks = 0; looks < 500; looks += 1) {
        await untilFed(store, accountId);
        const hits = await foundBeside(store, accountId, folder, 'common');
        if (hits.length === all.length) return;
        await delay(50);
      }
    }
  },
);
