import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { setPermissions } from '../../../../src/usecases/accounts/accounts.js';
import { deleteDraft, getDraftDetail } from '../../../../src/usecases/drafts/read-draft.js';
import { createDraft, updateDraft } from '../../../../src/usecases/drafts/save-draft.js';
import { sendDraft } from '../../../../src/usecases/drafts/send-draft.js';
import { setPolicy } from '../../../../src/usecases/inboxes/policies.js';
import { addSuppression } from '../../../../src/usecases/inboxes/suppressions.js';
import {
  deleteMessage,
  restoreMessage,
  trashMessage,
} from '../../../../src/usecases/mailbox/change-messages.js';
import { recoverSends } from '../../../../src/usecases/sending/attempt.js';
import { relayMessage } from '../../../../src/usecases/sending/relay-message.js';
import { must, outcomeOf } from '../../../support/use-cases.js';
import { ACCEPTED, Desk, REJECTED, readStream, UNKNOWN } from '../with-desk.js';
import { DAY_MS, silent, withHouse } from '../with-house.js';

const WHOLE = { to: [{ address: 'ann@x.example' }], subject: 'Notes', text: 'Hello' };

async function withDrafts(t: Parameters<typeof withHouse>[0], options: { sends?: number } = {}) {
  const house = await withHouse(t);
  const desk = new Desk(house, options);
  const inboxId = await house.addInbox('agent');
  const owner = { accountId: house.account, inboxId };
  const draft = async (fields: object = WHOLE): Promise<string> =>
    (await createDraft(desk.deps, { ...owner, ...fields })).id;
  const send = (draftId: string, idempotencyKey?: string) =>
    outcomeOf(() => sendDraft(desk.deps, { ...owner, draftId, idempotency_key: idempotencyKey }));
  const state = async (draftId: string) => {
    const detail = await getDraftDetail(house, { ...owner, draftId });
    const { state, sent_message_id } = await readStream<{ state: string; sent_message_id: string | null }>(
      detail,
    );
    return { state, sent: sent_message_id };
  };
  return { house, desk, owner, draft, send, state };
}

const code = (result: { ok: boolean; failure?: { code: string } }) =>
  result.ok ? 'ok' : result.failure?.code;

t.test('whatever becomes of it, an attempt submits its draft, and is given back for ever', async t => {
  const { house, desk, owner, draft, send, state } = await withDrafts(t);
  for (const outcome of [ACCEPTED, REJECTED, UNKNOWN]) {
    desk.outcome = outcome;
    const id = await draft();
    const first = must(await send(id, `key-${outcome.status}`));
    t.match(first, { replayed: false, message: { status: outcome.status } });
    t.same(await state(id), { state: 'submitted', sent: first.message.id });
    const edited = await outcomeOf(() => updateDraft(desk.deps, { ...owner, draftId: id, text: 'Other' }));
    t.equal(code(edited), 'draft_submitted');
    const keyed = must(await send(id, `key-${outcome.status}`));
    t.match(keyed, { replayed: true, idempotency_expires_at: first.idempotency_expires_at });
    for (const later of [0, DAY_MS, 400 * DAY_MS]) {
      house.now.ms += later;
      await house.sweepAll();
      const again = must(await send(id));
      t.match(again, { replayed: true, message: { id: first.message.id, status: outcome.status } });
      t.notOk('idempotency_expires_at' in again, 'no key, no expiry');
    }
    const reused = must(await send(id, `key-${outcome.status}`));
    t.match(reused, { replayed: true, message: { id: first.message.id } });
    t.notOk('idempotency_expires_at' in reused, 'a key is neither renewed nor taken');
    const other = await draft();
    t.match(
      must(await send(other, `key-${outcome.status}`)),
      { replayed: false },
      'so it is free for another',
    );
  }
  t.equal(desk.relayed.length, 6);
  t.same(verifyStore(house.store).faults, []);
});

t.test('a copy that is gone is told of by the key that is active, or by the draft', async t => {
  const { house, desk, owner, draft, send } = await withDrafts(t);
  const id = await draft();
  const { message } = must(await send(id, 'k'));
  const copy = { accountId: house.account, messageId: message.id };
  await trashMessage(house, { ...copy, kind: 'sent' });
  t.equal(code(await send(id)), 'draft_result_unavailable');
  t.equal(code(await send(id, 'k')), 'idempotency_result_unavailable');
  t.equal(code(await send(id, 'unused')), 'draft_result_unavailable');
  await restoreMessage(house, { ...copy, kind: 'sent' });
  t.match(must(await send(id)), { replayed: true, message: { id: message.id } });
  await deleteMessage(house, { ...copy, kind: 'sent' });
  t.equal(code(await send(id)), 'draft_result_unavailable');
  t.equal(code(await send(id, 'k')), 'idempotency_result_unavailable');
  house.now.ms += DAY_MS;
  t.equal(code(await send(id, 'k')), 'draft_result_unavailable', 'its key has expired');
  const edited = await outcomeOf(() => updateDraft(desk.deps, { ...owner, draftId: id, text: 'x' }));
  t.equal(code(edited), 'draft_submitted');
  await deleteDraft(house, { ...owner, draftId: id });
  t.equal(code(await send(id)), 'not_found');
  t.equal(desk.relayed.length, 1);
});

t.test('what is refused before the reservation leaves a draft as it was, and its key unused', async t => {
  const { house, desk, owner, draft, send, state } = await withDrafts(t, { sends: 1 });
  const id = await draft({});
  const untouched = async (expected: string, what: string) => {
    t.equal(code(await send(id, 'k')), expected, what);
    t.same(await state(id), { state: 'draft', sent: null }, what);
  };
  const edit = async (fields: object) => await updateDraft(desk.deps, { ...owner, draftId: id, ...fields });
  await untouched('invalid_message', 'empty');
  await edit({ to: WHOLE.to });
  await untouched('invalid_message', 'no subject');
  await edit({ subject: ' ', text: 'Hello' });
  await untouched('invalid_message', 'a blank subject');
  await edit({ subject: 'Notes', text: ' \n' });
  await untouched('invalid_message', 'a blank text');
  await edit({ text: 'Hello', to: [], cc: WHOLE.to });
  await untouched('invalid_message', 'nobody in To');
  await edit({ to: WHOLE.to, cc: [], in_reply_to: '0190b1f0-0000-7000-8000-000000000001' });
  await untouched('not_found', 'its reply target is not there');
  const waiting = await house.receive('raw', owner.inboxId);
  await edit({ in_reply_to: waiting });
  await untouched('reply_not_ready', 'its reply target is not ready');
  await edit({ in_reply_to: null });
  await setPermissions(house, { account: house.account, permissions: { send: false } });
  await untouched('operation_not_allowed', 'sending is switched off');
  await setPermissions(house, { account: house.account, permissions: { send: true } });
  const rules = (change: object) => setPolicy(house, { inbox: owner.inboxId, kind: 'sending', change });
  await rules({ enabled: true, domains: ['y.example'] });
  await untouched('recipient_not_allowed', 'rules');
  await rules({ enabled: false });
  await edit({ to: [...WHOLE.to, ...WHOLE.to] });
  await untouched('outbound_limit_reached', 'the allowance');
  await edit({ to: WHOLE.to });
  desk.isReady = false;
  await untouched('draft_unavailable', 'the queue');
  desk.isReady = true;
  t.match(must(await send(id, 'k')), { replayed: false, message: { status: 'accepted' } });
  t.equal(desk.relayed.length, 1);
});

t.test('a suppressed recipient submits the draft with a rejected attempt, uncharged', async t => {
  const { house, desk, draft, send, state } = await withDrafts(t, { sends: 1 });
  await addSuppression(house, { address: 'ann@x.example' });
  const id = await draft();
  const { message } = must(await send(id));
  t.match(message, { status: 'rejected', error_code: 'E_RECIPIENT_SUPPRESSED' });
  t.same(await state(id), { state: 'submitted', sent: message.id });
  t.equal(desk.relayed.length, 0);
  const other = await draft({ ...WHOLE, to: [{ address: 'bob@x.example' }] });
  t.match(must(await send(other)), { message: { status: 'accepted' } }, 'the allowance of one is there');
});

t.test('twenty sends at once are one attempt, though the allowance covers no second', async t => {
  const { house, desk, draft, send } = await withDrafts(t, { sends: 40 });
  for (const [round, keys] of [
    ['without keys', (_n: number) => undefined],
    ['with one key', (_n: number) => 'same'],
    ['with keys of their own', (n: number) => `own-${n}`],
    ['with and without', (n: number) => (n % 2 === 0 ? 'even' : undefined)],
  ] as const) {
    const id = await draft({
      ...WHOLE,
      attachments: [{ filename: 'a', type: 'a/b', content: 'QUJD'.repeat(60_000) }],
    });
    const spent = { ...WHOLE, to: Array.from({ length: 9 }, () => ({ address: 'x@y.example' })) };
    must(await send(await draft(spent)));
    desk.relayed.length = 0;
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(id, keys(n))));
    const receipts = answers.map(answer => must(answer));
    t.equal(desk.relayed.length, 1, round);
    t.equal(new Set(receipts.map(({ message }) => message.id)).size, 1, round);
    t.equal(receipts.filter(({ replayed }) => replayed === true).length, 19, round);
  }
  // Four times nine and one: the last of them left nothing for a second attempt.
  t.equal(code(await send(await draft())), 'outbound_limit_reached');
  t.same(verifyStore(house.store).faults, []);
});

t.test('nor do sends that begin while another one reserves meet the allowance', async t => {
  const { draft, send } = await withDrafts(t, { sends: 12 });
  const content = Buffer.alloc(900_000, 7).toString('base64');
  const attachments = [1, 2, 3].map(n => ({ filename: `${n}`, type: 'a/b', content }));
  for (let round = 0; round < 12; round++) {
    const id = await draft({ ...WHOLE, attachments });
    const sends = [send(id)];
    for (let n = 0; n < 8; n++) {
      await new Promise(setImmediate);
      sends.push(send(id));
    }
    const answers = await Promise.all(sends);
    t.same(
      answers.map(code),
      Array.from({ length: 9 }, () => 'ok'),
      `round ${round}`,
    );
  }
});

t.test('an edit is in what is sent, or the send is told of it, or the edit is refused', async t => {
  const { house, desk, owner, draft, send } = await withDrafts(t);
  const seen = { included: 0, busy: 0, refused: 0 };
  const file = { filename: 'a', type: 'a/b', content: 'QUJD'.repeat(30_000) };
  const isEnough = () => Math.min(seen.included, seen.busy, seen.refused) >= 5;
  // How the steps fall together is chance: as many rounds as it takes to see each of them.
  for (let round = 0; round < 90 || (!isEnough() && round < 900); round++) {
    const text = (n: number) => `version ${n}\n${round % 3 === 0 ? 'x'.repeat(70_000) : ''}`;
    const id = await draft({ ...WHOLE, text: text(0), attachments: round % 2 === 0 ? [file] : [] });
    let saved = 0;
    const write = async (n: number): Promise<void> => {
      const fields = { text: text(n), subject: `Subject ${n}` };
      const result = await outcomeOf(() => updateDraft(desk.deps, { ...owner, draftId: id, ...fields }));
      if (result.ok) saved = n;
      else {
        t.equal(code(result), 'draft_submitted');
        seen.refused += 1;
      }
    };
    // From an edit that is answered before the send begins to one that begins behind its reservation.
    const lead = (round % 30) - 15;
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn++) await delay(1);
    };
    const writing = turns(Math.max(0, lead)).then(() => write(1));
    await turns(Math.max(0, -lead));
    const result = await send(id);
    await writing;
    if (!result.ok) {
      t.equal(result.failure.code, 'draft_busy');
      seen.busy += 1;
      must(await send(id));
    } else seen.included += 1;
    const [attempt] = desk.relayed.splice(0);
    const wire = Buffer.from(attempt?.content ?? []).toString('latin1');
    const sentVersion = /version (\d)/.exec(wire)?.[1];
    t.equal(sentVersion, `${saved}`, `round ${round}: what was saved last is what went out`);
    if (saved > 0) t.ok(wire.includes(`Subject: Subject ${saved}\r\n`), 'whole');
  }
  t.comment(JSON.stringify(seen));
  t.ok(isEnough(), JSON.stringify(seen));
  t.same(verifyStore(house.store).faults, []);
});

t.test('an attempt that was not started is started by the next process, one that was is not', async t => {
  const { house, draft, owner } = await withDrafts(t);
  const stuck = new Desk(house, { responseTimeoutMs: 1 });
  stuck.held = [];
  const id = await draft();
  const receipt = await sendDraft(stuck.deps, { ...owner, draftId: id });
  t.match(receipt, { message: { status: 'unknown', error_code: null } });
  t.match(await sendDraft(stuck.deps, { ...owner, draftId: id }), { replayed: true });
  t.equal(stuck.held.length, 1, 'a repetition starts nothing');
  t.same(await recoverSends(house), { unknown: 0, waiting: 1, held: 0 });
  const next = new Desk(house);
  next.offer(stuck.held);
  next.offer(stuck.held);
  await next.settled();
  t.equal(next.relayed.length, 1);
  t.match(await sendDraft(next.deps, { ...owner, draftId: id }), {
    replayed: true,
    message: { id: receipt.message.id, status: 'accepted' },
  });

  const cut = await draft();
  stuck.held = [];
  await sendDraft(stuck.deps, { ...owner, draftId: cut });
  let started: () => void = () => {};
  const begun = new Promise<void>(resolve => {
    started = () => resolve();
  });
  const relay = {
    submit: () => {
      started();
      return new Promise<never>(() => {});
    },
  };
  void relayMessage({ ...stuck.deps, relay, log: silent }, stuck.held[0]!);
  await begun;
  t.same(await recoverSends(house), { unknown: 1, waiting: 0, held: 0 }, 'it may have gone out');
  t.match(await sendDraft(next.deps, { ...owner, draftId: cut }), {
    replayed: true,
    message: { status: 'unknown', error_code: 'acceptance_unknown' },
  });
  t.equal(next.relayed.length, 1);
});
