import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { PosternBox, startBox } from '../../support/box/postern-box.js';
import { writeLetter } from '../../support/letters/letters.js';
import { deliver } from '../../support/smtp/deliver.js';

t.test('a second daemon on the same store ends with a reason, and the first serves on', async t => {
  const box = await startBox(t);
  const agent = await createAgent(box);
  const second = PosternBox.create(t, { dataDir: box.dataDir });
  const { code } = await second.spawn().exited;
  t.equal(code, 1);
  t.match(
    second.tail(),
    new RegExp(`another postern daemon \\(pid ${box.pid}\\) serves this data directory`),
  );
  const id = await deliver(box, agent.address, writeLetter());
  t.equal((await agent.api.finished(id)).processing_status, 'ready', 'its Redis was left alone, too');

  await box.kill();
  await second.start();
  t.pass('the claim of a daemon that was killed counts for nothing');
});
