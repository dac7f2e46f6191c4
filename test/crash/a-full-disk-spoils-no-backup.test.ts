import { join } from 'node:path';
import t from 'tap';
import { checkSums, openBackup } from '../../src/store/backup/open-backup.js';
import { verifyStore } from '../../src/store/verify/verify-store.js';
import { backUp } from '../../src/usecases/upkeep/back-up.js';
import { canMount, mountSmallDisk } from '../support/box/small-disk.js';
import { withHouse } from '../unit/usecases/with-house.js';

const MIB = 2 ** 20;
const skip = canMount() ? false : 'nothing can be mounted here';

t.test('a disk that is full, or gets full, leaves the backup from before as it was', { skip }, async t => {
  const house = await withHouse(t);
  const inbox = await house.addInbox('agent');
  const disk = mountSmallDisk(t, 160);
  const directory = join(disk.path, 'backup');
  const receive = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await house.receive(`Subject: ${n}\r\n\r\n${'x'.repeat(MIB)}\r\n`, inbox);
  };
  const make = (onProgress = (): void => {}) =>
    backUp(
      { ...house, version: '1.2.3', diskFloorBytes: 8 * MIB, mapSizeBytes: 2 ** 30 },
      { directory, files: [], onProgress },
    );
  const messagesOf = async (): Promise<number> => {
    const backup = openBackup(directory);
    const { checked, faults } = verifyStore(backup.store, backup.isListed);
    t.same([...checkSums(directory, backup), ...faults], []);
    await backup.store.close();
    return checked.messages;
  };

  await receive(4);
  await make();
  t.equal(await messagesOf(), 4);
  await receive(40);
  disk.fill(40);
  await t.rejects(make(), { message: /needs about .* MiB .* are free. Nothing was changed/ });
  t.equal(await messagesOf(), 4);

  disk.empty();
  let isFilled = false;
  const fillOnce = (): void => {
    if (!isFilled) disk.fill(12);
    isFilled = true;
  };
  await t.rejects(make(fillOnce), { message: /is full: the backup was not finished/ });
  t.equal(await messagesOf(), 4, 'the one from before is whole');
  disk.empty();
  await make();
  t.equal(await messagesOf(), 44, 'and the next run goes on');
});
