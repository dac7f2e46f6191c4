import t from 'tap';
import { StoreClosedError } from '../../../../src/store/engine/store.js';
import { linesTable } from '../lines.js';
import { dataDirectory, withStore } from '../with-store.js';

t.test('close waits for the units under way; later ones are told, and nobody is alarmed', async t => {
  const path = dataDirectory(t);
  let alarms = 0;
  const store = await withStore(t, { path, onFatal: () => void alarms++ });
  const underWay = store.write(writer => writer.put(linesTable, 'line', 'written'));
  const closed = store.close();
  t.throws(() => store.read(reader => reader.has(linesTable, 'line')), StoreClosedError);
  await t.rejects(
    store.write(() => 1),
    StoreClosedError,
  );
  await underWay;
  await closed;
  await store.close();
  await t.rejects(
    store.write(() => 1),
    StoreClosedError,
  );
  t.equal(alarms, 0);

  const again = await withStore(t, { path });
  t.equal(
    again.read(reader => reader.get(linesTable, 'line')),
    'written',
  );
});
