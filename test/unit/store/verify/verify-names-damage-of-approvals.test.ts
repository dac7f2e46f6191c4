import t from 'tap';
import { type AccountId, type ApprovalId, type FeedbackId, newId } from '../../../../src/domain/ids.js';
import type { Writer } from '../../../../src/store/engine/tables.js';
import {
  approvalLinksTable,
  claimPhrasesTable,
  putFeedback,
  putSignupAnswers,
} from '../../../../src/store/records/approvals.js';
import { addPending, pendingTable } from '../../../../src/store/records/pending.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { withApprovals } from '../../usecases/signup/with-approvals.js';
import { FIRST, LAST } from '../lines.js';

const ALL = { from: FIRST, to: LAST, limit: 99 };

function dropPending(writer: Writer, kind: string): void {
  for (const { key, value } of writer.scan(pendingTable, ALL)) {
    if (value.kind === kind) writer.remove(pendingTable, key);
  }
}

const STRANGER = newId<AccountId>(1);

const DAMAGES: readonly (readonly [string, (writer: Writer) => void, RegExp])[] = [
  [
    'a link would stay for ever',
    writer => dropPending(writer, 'expire-link'),
    /^missing: pending expiry of approval link/,
  ],
  [
    'a phrase would stay for ever',
    writer => dropPending(writer, 'expire-phrase'),
    /^missing: pending expiry of claim phrase/,
  ],
  [
    'a link is lost',
    writer => {
      for (const key of writer.scanKeys(approvalLinksTable, ALL)) writer.remove(approvalLinksTable, key);
    },
    /^there without reason: pending expiry of approval link/,
  ],
  [
    'a phrase is lost',
    writer => {
      for (const key of writer.scanKeys(claimPhrasesTable, ALL)) writer.remove(claimPhrasesTable, key);
    },
    /^there without reason: pending expiry of claim phrase/,
  ],
  [
    'the end of something is planned that is not there',
    writer => addPending(writer, 5, { kind: 'expire-link', id: newId<ApprovalId>(2), hash: 'ab' }),
    /^there without reason: pending expiry of approval link .* \(ab\.\.\.\), due 5/,
  ],
  [
    'answers belong to no account',
    writer =>
      putSignupAnswers(writer, {
        accountId: STRANGER,
        answeredAt: 1,
        discoverySource: 'x',
        intendedUse: null,
      }),
    new RegExp(`^missing: account ${STRANGER}`),
  ],
  [
    'feedback belongs to no account',
    writer =>
      putFeedback(writer, {
        id: newId<FeedbackId>(3),
        accountId: STRANGER,
        createdAt: 1,
        title: null,
        body: 'x',
      }),
    new RegExp(`^missing: account ${STRANGER}`),
  ],
];

for (const [what, damage, name] of DAMAGES) {
  t.test(`verify says so when ${what}`, async t => {
    const { house, askForLink, phraseFor } = await withApprovals(t);
    await askForLink('owner@elsewhere.example');
    await phraseFor('owner@elsewhere.example');
    t.same(verifyStore(house.store).faults, []);
    await house.store.write(writer => {
      damage(writer);
    });
    const { faults } = verifyStore(house.store);
    t.ok(
      faults.some(fault => name.test(fault)),
      `names it: ${faults.join('\n')}`,
    );
  });
}
