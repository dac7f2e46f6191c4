import t from 'tap';
import type { BlobId, DraftId } from '../../../../src/domain/ids.js';
import { blobChunksTable, blobUploadsTable, CHUNK_BYTES } from '../../../../src/store/records/blobs.js';
import { getDraft } from '../../../../src/store/records/drafts.js';
import { verifyStore } from '../../../../src/store/verify/verify-store.js';
import { deleteDraft, getDraftDetail } from '../../../../src/usecases/drafts/read-draft.js';
import { createDraft, updateDraft } from '../../../../src/usecases/drafts/save-draft.js';
import { sendDraft } from '../../../../src/usecases/drafts/send-draft.js';
import { deleteInbox } from '../../../../src/usecases/inboxes/inboxes.js';
import { outcomeOf } from '../../../support/use-cases.js';
import { FIRST, LAST } from '../../store/lines.js';
import { countChunks } from '../../store/with-blobs.js';
import { takeRoom } from '../../store/with-store.js';
import { Desk, readStream } from '../with-desk.js';
import { type House, withHouse } from '../with-house.js';

const LONG = 'x'.repeat(CHUNK_BYTES + 1);
/** As long as a text may be that is one chunk. */
const BRIM = 'x'.repeat(CHUNK_BYTES);
const file = (bytes: number, fill = 7) => ({
  filename: 'a.bin',
  type: 'application/octet-stream',
  content: Buffer.alloc(bytes, fill).toString('base64'),
});
/** How long what an edit replaces is kept for its readers. */
const KEPT_MS = 60_000;

const uploads = (house: House) =>
  house.store.read(reader => reader.scanKeys(blobUploadsTable, { from: FIRST, to: LAST, limit: 100 })).length;

async function withDesk(t: Parameters<typeof withHouse>[0], options: Parameters<typeof withHouse>[1] = {}) {
  const house = await withHouse(t, options);
  const desk = new Desk(house);
  const inboxId = await house.addInbox('agent');
  return { house, desk, owner: { accountId: house.account, inboxId } };
}

t.test('chunks of texts and files come and go with what is saved', async t => {
  const { house, desk, owner } = await withDesk(t);
  const draftId = (await createDraft(desk.deps, { ...owner, text: LONG, attachments: [file(200_000)] })).id;
  t.equal(countChunks(house.store), 2 + 4);
  const edit = async (fields: object, chunks: number, texts: number, what: string) => {
    await updateDraft(desk.deps, { ...owner, draftId, ...fields });
    await house.sweepAll();
    t.same(verifyStore(house.store).faults, [], what);
    house.now.ms += KEPT_MS;
    await house.sweepAll();
    t.equal(countChunks(house.store), chunks + texts, what);
    t.same(verifyStore(house.store).faults, [], what);
  };
  await edit({ subject: 'Notes' }, 6, 0, 'nothing of them changes');
  await edit({ html: LONG }, 8, 0, 'HTML beside the text');
  await edit({ text: 'short' }, 6, 1, 'a text that is short now');
  await edit({ text: BRIM }, 6, 1, 'as long as one chunk');
  await edit({ text: LONG }, 8, 0, 'long again');
  await edit({ text: '' }, 6, 0, 'none');
  await edit({ html: null, text: 'short' }, 4, 1, 'no HTML');
  await edit({ html: '' }, 4, 2, 'empty HTML, which is some');
  await edit({ attachments: [file(10), file(70_000)] }, 3, 2, 'files in place of files');
  await edit({ attachments: [file(0)] }, 1, 2, 'an empty file');
  await edit({ attachments: null, html: null }, 0, 1, 'no files');
  await edit({ attachments: [file(70_000)], text: LONG }, 4, 0, 'all anew');
  await deleteDraft(house, { ...owner, draftId });
  await house.sweepAll();
  t.equal(countChunks(house.store), 0, 'a deleted draft frees all at once');
});

t.test('who reads a draft as it was reads it to the end', async t => {
  const { house, desk, owner } = await withDesk(t);
  const draftId = (
    await createDraft(desk.deps, { ...owner, attachments: [file(400_000, 1), file(400_000, 2)] })
  ).id;
  const { size, bytes } = await getDraftDetail(house, { ...owner, draftId });
  const parts: Uint8Array[] = [];
  for await (const part of bytes) {
    parts.push(part);
    if (parts.length !== 3) continue;
    await updateDraft(desk.deps, { ...owner, draftId, attachments: [file(3)] });
    house.now.ms += KEPT_MS - 1;
    await house.sweepAll();
  }
  const whole = Buffer.concat(parts);
  t.equal(whole.length, size);
  const { content } = JSON.parse(whole.toString()) as { content: { attachments: { content: string }[] } };
  t.same(
    content.attachments.map(({ content }) => content),
    [file(400_000, 1).content, file(400_000, 2).content],
  );
  const now = await getDraftDetail(house, { ...owner, draftId });
  t.match(await readStream(now), { content: { attachments: [file(3)] } });
});

t.test('what is refused leaves no bytes behind', async t => {
  const { house, desk, owner } = await withDesk(t);
  const draftId = (await createDraft(desk.deps, { ...owner, text: 'x'.repeat(3_000_000) })).id;
  await house.sweepAll();
  const before = countChunks(house.store);
  const none = { ...owner, accountId: await house.addAccount('stranger@elsewhere.example') };
  const big = { attachments: [file(1_000_000)] };
  const words = [
    await outcomeOf(() => updateDraft(desk.deps, { ...owner, draftId, html: 'y'.repeat(3_000_000) })),
    await outcomeOf(() => updateDraft(desk.deps, { ...owner, draftId, attachments: [file(1_700_000)] })),
    await outcomeOf(() => updateDraft(desk.deps, { ...none, draftId, ...big })),
    await outcomeOf(() => createDraft(desk.deps, { ...none, ...big })),
    await outcomeOf(() => createDraft(desk.deps, { ...owner, text: 'x'.repeat(5 * 2 ** 20 + 1) })),
  ].map(result => (result.ok ? 'ok' : result.failure.code));
  t.same(words, ['message_too_large', 'message_too_large', 'not_found', 'not_found', 'message_too_large']);
  const keyed = { ...owner, ...big, idempotency_key: 'k' };
  const made = await Promise.all(Array.from({ length: 5 }, () => createDraft(desk.deps, keyed)));
  t.equal(new Set(made.map(result => result.id)).size, 1, 'five at once made one');
  await house.sweepAll();
  t.equal(countChunks(house.store), before + 16, 'and the files of one');
  t.equal(uploads(house), 0);
  t.same(verifyStore(house.store).faults, []);
});

t.test('of edits at once the last of a field wins, and those of other fields stay', async t => {
  const { house, desk, owner } = await withDesk(t);
  for (let round = 0; round < 10; round++) {
    const draftId = (await createDraft(desk.deps, owner)).id;
    const edits: object[] = [
      { subject: 'Notes' },
      { text: LONG },
      { html: '<p>' },
      { to: [{ address: 'ann@x.example' }] },
      { cc: [{ address: 'bob@x.example' }] },
      { labels: ['a'] },
      { attachments: [file(100_000)] },
    ];
    const texts = Array.from({ length: 6 }, (_, n) => ({ bcc: [{ address: `n${n}@x.example` }] }));
    const finished: number[] = [];
    await Promise.all([
      ...edits.map(fields => updateDraft(desk.deps, { ...owner, draftId, ...fields })),
      ...texts.map((fields, n) =>
        updateDraft(desk.deps, { ...owner, draftId, ...fields }).then(() => finished.push(n)),
      ),
    ]);
    const { content } = await readStream<{ content: object }>(
      await getDraftDetail(house, { ...owner, draftId }),
    );
    t.match(content, {
      subject: 'Notes',
      text: LONG,
      html: '<p>',
      to: [{ address: 'ann@x.example' }],
      cc: [{ address: 'bob@x.example' }],
      bcc: [{ address: `n${finished.at(-1)}@x.example` }],
      labels: ['a'],
      attachments: [file(100_000)],
    });
  }
  house.now.ms += KEPT_MS;
  await house.sweepAll();
  t.equal(countChunks(house.store), 10 * 5);
  t.same(verifyStore(house.store).faults, []);
});

t.test('a deleted inbox takes its drafts along, submitted or not', async t => {
  const { house, desk, owner } = await withDesk(t);
  const kept = await house.addInbox('kept');
  const other = (await createDraft(desk.deps, { ...owner, inboxId: kept, text: LONG })).id;
  const before = countChunks(house.store);
  const ids: string[] = [];
  for (let n = 0; n < 120; n++) {
    const text = n % 10 === 0 ? LONG : 'short';
    ids.push((await createDraft(desk.deps, { ...owner, text, attachments: [file(n)] })).id);
  }
  await updateDraft(desk.deps, { ...owner, draftId: ids[0]!, text: `${LONG}!` });
  await deleteInbox(house, owner);
  const read = await outcomeOf(() => getDraftDetail(house, { ...owner, draftId: ids[0]! }));
  t.match(read, { failure: { code: 'not_found' } });
  t.match(await outcomeOf(() => updateDraft(desk.deps, { ...owner, draftId: ids[1]!, text: 'x' })), {
    failure: { code: 'not_found' },
  });
  t.match(await outcomeOf(() => deleteDraft(house, { ...owner, draftId: ids[1]! })), {
    failure: { code: 'not_found' },
  });
  t.same(verifyStore(house.store).faults, [], 'before the sweep');
  house.now.ms += KEPT_MS;
  await house.sweepAll();
  t.equal(countChunks(house.store), before);
  t.equal(verifyStore(house.store).checked.drafts, 1);
  t.same(verifyStore(house.store).faults, []);
  t.match(await readStream(await getDraftDetail(house, { ...owner, draftId: other })), { id: other });
});

t.test(
  'a disk at its floor takes no drafts and no changes of them, but lets them be read and deleted',
  async t => {
    const { house, desk, owner } = await withDesk(t);
    const draftId = (await createDraft(desk.deps, { ...owner, text: 'short' })).id;
    takeRoom(house.store);
    const code = (result: { ok: boolean; failure?: { code: string } }) => result.failure?.code;
    t.equal(code(await outcomeOf(() => createDraft(desk.deps, owner))), 'insufficient_room');
    const longer = await outcomeOf(() => updateDraft(desk.deps, { ...owner, draftId, text: 'longer' }));
    t.equal(code(longer), 'insufficient_room');
    const labelled = await outcomeOf(() => updateDraft(desk.deps, { ...owner, draftId, labels: ['a'] }));
    t.equal(code(labelled), 'insufficient_room');
    t.match(await readStream(await getDraftDetail(house, { ...owner, draftId })), {
      content: { text: 'short' },
    });
    t.match(await outcomeOf(() => deleteDraft(house, { ...owner, draftId })), { ok: true });
  },
);

t.test('bytes that are missing are told of, by reading and by sending, and can be written anew', async t => {
  const { house, desk, owner } = await withDesk(t);
  const whole = {
    to: [{ address: 'ann@x.example' }],
    subject: 'Notes',
    text: LONG,
    attachments: [file(70_000)],
  };
  const draftId = (await createDraft(desk.deps, { ...owner, ...whole })).id;
  const record = () => house.store.read(reader => getDraft(reader, draftId as DraftId))!;
  const lose = (blob: { id: BlobId }, index: number) =>
    house.store.write(writer => writer.remove(blobChunksTable, { id: blob.id, index }));
  const words = async () => {
    const read = await outcomeOf(() => getDraftDetail(house, { ...owner, draftId }));
    const sent = await outcomeOf(() => sendDraft(desk.deps, { ...owner, draftId }));
    return [read, sent].map(result => (result.ok ? 'ok' : result.failure.code));
  };
  await lose(record().files[0]!.blob, 0);
  t.same(await words(), ['content_unavailable', 'content_unavailable'], 'a file');
  await updateDraft(desk.deps, { ...owner, draftId, attachments: [file(10)] });
  await lose(record().text!, 1);
  t.same(await words(), ['content_unavailable', 'content_unavailable'], 'a text');
  await updateDraft(desk.deps, { ...owner, draftId, text: 'short' });
  await lose(record().text!, 0);
  t.same(await words(), ['content_unavailable', 'content_unavailable'], 'a short text');
  await updateDraft(desk.deps, { ...owner, draftId, text: 'again' });
  t.same(await words(), ['ok', 'ok']);
  t.equal(desk.relayed.length, 1);
});
