import t from 'tap';
import { QueueShares } from '../../../src/queue/queue-shares.js';

const lane = (owner: string, destination: string) => ({ way: 'w', owner, destination, isAlone: false });

function fill(shares: QueueShares, owner: string, destination: string, most = 1_000): number {
  let count = 0;
  while (count < most && shares.enter(lane(owner, destination))) count++;
  return count;
}

t.test('one destination of an owner leaves room for its others, and for other owners', async t => {
  const shares = new QueueShares(300);
  t.equal(fill(shares, 'ann', 'tar.example'), 100);
  t.ok(shares.enter(lane('ann', 'good.example')));
  t.ok(shares.enter(lane('bob', 'tar.example')));
});

t.test('an owner with any number of destinations has no more than half', async t => {
  const shares = new QueueShares(300);
  let count = 0;
  for (let n = 0; n < 1_000; n++) count += fill(shares, 'ann', `d${n}.example`, 1);
  t.equal(count, 150);
  t.ok(shares.enter(lane('bob', 'good.example')));
  for (let n = 0; n < 150; n++) shares.leave(lane('ann', `d${n}.example`));
  t.ok(shares.enter(lane('ann', 'd0.example')), 'what has left makes room');
});
