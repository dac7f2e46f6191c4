import t from 'tap';
import type { StsPolicy } from '../../../../src/domain/mta-sts.js';
import { putStsPolicy } from '../../../../src/store/records/sts-policies.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { withHouse } from '../../usecases/with-house.js';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 28);

const SOUND: StsPolicy = {
  id: '20261128',
  mode: 'enforce',
  mx: ['mx1.remote.example', '*.mail.remote.example'],
  fetchedAt: NOW,
  expiresAt: NOW + 7 * DAY_MS,
};

const DAMAGES: Readonly<Record<string, Partial<Record<keyof StsPolicy, unknown>>>> = {
  'names no host, so that nothing could be delivered': { mx: [] },
  'names a host that is none': { mx: ['mx1.remote.example', '..'] },
  'has a mode that nobody knows, and so demands nothing': { mode: 'enforced' },
  'has no id': { id: '' },
  'holds for longer than any may': { expiresAt: NOW + 400 * DAY_MS },
  'ends before it begins': { expiresAt: NOW - 1 },
  'has no end': { expiresAt: null },
};

for (const [what, damage] of Object.entries(DAMAGES)) {
  t.test(`verify says so when an MTA-STS policy ${what}`, async t => {
    const { store } = await withHouse(t);
    await store.write(writer => {
      putStsPolicy(writer, 'sound.example', SOUND);
      putStsPolicy(writer, 'none.example', { ...SOUND, mode: 'none', mx: [] });
    });
    t.strictSame(verifyStore(store).faults, []);
    await store.write(writer => putStsPolicy(writer, 'broken.example', { ...SOUND, ...damage } as StsPolicy));
    const { faults } = verifyStore(store);
    t.equal(faults.length, 1);
    t.match(faults[0], /a whole MTA-STS policy of broken\.example/);
  });
}
