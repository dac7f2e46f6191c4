import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { searchFolder } from '../../../src/search/word-threads.js';
import { createAgent, createInbox } from '../../support/box/agents.js';
import { type PosternBox, startBox } from '../../support/box/postern-box.js';
import { deliver } from '../../support/smtp/deliver.js';

const MAX_LOOKS = 600;

/** Is the word in any file of the index? */
function isThere(box: PosternBox, word: string): boolean {
  const folder = searchFolder(box.dataDir);
  return readdirSync(folder).some(name => readFileSync(join(folder, name)).includes(word));
}

async function until(claim: () => boolean): Promise<boolean> {
  for (let looks = 0; looks < MAX_LOOKS && !claim(); looks += 1) await delay(25);
  return claim();
}

t.test(
  'a word that only deleted mail had is in no file of the index, of one message or a whole inbox',
  async t => {
    const box = await startBox(t);
    const agent = await createAgent(box);
    const other = await createInbox(agent, 'other');
    const letter = (word: string) => `Subject: note\r\n\r\n${word} and more\r\n`;
    const id = await deliver(box, agent.address, letter('quixotically'));
    await deliver(box, agent.address, letter('keepsakes'));
    for (let at = 0; at < 5; at += 1) await deliver(box, other.address, letter(`perishable${at}x`));
    for (const word of ['quixotically', 'keepsakes', 'perishable4x']) {
      t.ok(await until(() => isThere(box, word)), word);
    }

    const trashed = await agent.api.post(`/v1/messages/${id}/trash`, {});
    t.equal(trashed.status, 200);
    const deleted = await agent.api.delete(`/v1/messages/${id}`);
    t.equal(deleted.status, 202);
    t.ok(await until(() => !isThere(box, 'quixotically')));
    t.equal((await agent.api.delete(`/v1/inboxes/${other.id}`)).status, 202);
    t.ok(await until(() => !isThere(box, 'perishable')));
    t.ok(isThere(box, 'keepsakes'));
    t.match(await box.cliJson('verify'), { sound: true });
  },
);
