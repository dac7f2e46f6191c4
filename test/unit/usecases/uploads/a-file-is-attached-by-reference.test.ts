import { createHash } from 'node:crypto';
import t from 'tap';
import type { InboxId, MessageId } from '../../../../src/domain/ids.js';
import { blobChunksTable } from '../../../../src/store/records/blobs.js';
import { RECORD_BYTES } from '../../../../src/store/records/storage.js';
import { deleteDraft, getDraftDetail } from '../../../../src/usecases/drafts/read-draft.js';
import { createDraft, updateDraft } from '../../../../src/usecases/drafts/save-draft.js';
import { sendDraft } from '../../../../src/usecases/drafts/send-draft.js';
import { deleteMessage, trashMessage } from '../../../../src/usecases/mailbox/change-messages.js';
import { getSentDetail } from '../../../../src/usecases/mailbox/read-message.js';
import { replyMessage } from '../../../../src/usecases/sending/recipes.js';
import { createUpload, deleteUpload } from '../../../../src/usecases/uploads/file-uploads.js';
import { mimeLetter } from '../../../support/letters/mime-letter.js';
import { outcomeOf, sendMessage } from '../../../support/use-cases.js';
import { countChunks, pattern } from '../../store/with-blobs.js';
import { Desk, readStream } from '../with-desk.js';
import { DAY_MS, type House, withHouse } from '../with-house.js';
import { index, parseForReal } from '../with-parser.js';
import { faultsOf, incoming, upload, uploadDeps, usedBy } from './with-uploads.js';

const FILE = pattern(200_000);
const CHUNKS = 4;

async function withDesk(t: Parameters<typeof withHouse>[0]) {
  const house = await withHouse(t);
  const desk = new Desk(house);
  const inboxId = await house.addInbox('agent');
  const owner = { accountId: house.account, inboxId };
  const message = { ...owner, to: [{ address: 'ann@remote.example' }], subject: 'Notes', text: 'Hello' };
  const submit = (...attachments: object[]) =>
    sendMessage(desk.deps, { ...message, attachments } as Parameters<typeof sendMessage>[1]);
  return { house, desk, owner, message, submit };
}

const named = <Where extends object>(fields: Where, filename = 'a.bin') => ({
  filename,
  type: 'application/octet-stream',
  ...fields,
});

/** A letter that is long besides, with the file as its only attachment. */
const LETTER = mimeLetter({
  headers: { From: 'Zoe <zoe@far.example>', To: 'agent@example.org', 'Message-ID': '<numbers@far.example>' },
  text: 'See the report. '.repeat(10_000),
  files: [{ filename: 'Report.pdf', type: 'application/pdf', bytes: FILE }],
});
const ATTACHMENT = 'a1';

async function receive(house: House, inboxId: InboxId, letter = LETTER): Promise<MessageId> {
  const id = await house.receive(letter, inboxId);
  await index(house, id, parseForReal);
  return id;
}

type Attached = { attachments: { filename: string; type: string; content: string }[] };

async function filesSent(house: House, messageId: string): Promise<Attached['attachments']> {
  const detail = getSentDetail(house, { accountId: house.account, messageId });
  return (await readStream<{ submission: Attached }>(detail)).submission.attachments;
}

async function filesOfDraft(house: House, draftId: string): Promise<Attached['attachments']> {
  const detail = await getDraftDetail(house, { accountId: house.account, draftId });
  return (await readStream<{ content: Attached }>(detail)).content.attachments;
}

t.test('an upload tells what was stored, and until when', async t => {
  const { house } = await withDesk(t);
  for (const size of [0, 1, 65_520, 200_000]) {
    const bytes = pattern(size);
    const answer = await createUpload(uploadDeps(house), { accountId: house.account, file: incoming(bytes) });
    t.match(answer, {
      size,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      expires_at: new Date(house.now.ms + DAY_MS).toISOString(),
    });
    t.same(faultsOf(house), []);
  }
});

t.test('a message has the same bytes as if they came along, stored once', async t => {
  const { house, desk, submit } = await withDesk(t);
  const uploadId = await upload(house, FILE);
  const chunks = countChunks(house.store);
  const receipt = await submit(named({ upload_id: uploadId }), named({ content: 'QUJD' }, 'b.txt'));
  t.match(receipt, { ok: true });
  const byReference = receipt.ok ? receipt.value.message.id : '';
  await desk.settled();
  t.equal(countChunks(house.store), chunks + 2, 'the bodies and the other file');
  t.same(
    (await filesSent(house, byReference)).map(({ filename, content }) => [filename, content]),
    [
      ['a.bin', FILE.toString('base64')],
      ['b.txt', 'QUJD'],
    ],
  );
  await submit(named({ content: FILE.toString('base64') }), named({ content: 'QUJD' }, 'b.txt'));
  await desk.settled();
  const [one, two] = desk.relayed.map(({ content }) =>
    Buffer.from(content)
      .toString('latin1')
      .replace(/^(Message-ID|Date):.*\r\n( .*\r\n)*/gim, ''),
  );
  const withoutBoundaries = (text = '') => text.replace(/=_-[0-9a-f-]{36}/g, '=_');
  t.equal(withoutBoundaries(one), withoutBoundaries(two));
  t.same(faultsOf(house), []);
});

t.test('what took the file keeps it, whatever becomes of the upload', async t => {
  for (const way of ['deleted', 'expired'] as const) {
    const { house, desk, owner, submit } = await withDesk(t);
    const uploadId = await upload(house, FILE);
    const [a, b] = [
      await submit(named({ upload_id: uploadId })),
      await submit(named({ upload_id: uploadId })),
    ];
    const draft = await createDraft(desk.deps, { ...owner, attachments: [named({ upload_id: uploadId })] });
    await desk.settled();
    t.same(faultsOf(house), [], 'owned four times');
    const before = usedBy(house);
    if (way === 'deleted') await deleteUpload(house, { accountId: house.account, uploadId });
    else house.now.ms += DAY_MS;
    const later = await submit(named({ upload_id: uploadId }));
    t.match(later, { failure: { code: 'not_found', message: /attachments\[0\]\.upload_id/ } }, way);
    await house.sweepAll();
    t.equal(usedBy(house).stored, before.stored - RECORD_BYTES - FILE.length);
    t.equal(usedBy(house).uploads, 0);
    t.same(faultsOf(house), []);
    const ids = [a, b].map(sent => (sent.ok ? sent.value.message.id : ''));
    for (const id of ids) t.equal((await filesSent(house, id))[0]?.content, FILE.toString('base64'));
    for (const id of ids) {
      await deleteMessage(house, { accountId: house.account, messageId: id as MessageId, kind: 'sent' });
      await house.sweepAll();
      t.equal((await filesOfDraft(house, draft.id))[0]?.content, FILE.toString('base64'));
      t.same(faultsOf(house), []);
    }
    await deleteDraft(house, { ...owner, draftId: draft.id });
    await house.sweepAll();
    t.equal(countChunks(house.store), 0, 'the last owner frees it');
    t.equal(usedBy(house).stored, 0);
    t.same(faultsOf(house), []);
  }
});

t.test('drafts take, keep, change and send files by reference', async t => {
  const { house, desk, owner, message } = await withDesk(t);
  const [one, two] = [await upload(house, FILE), await upload(house, pattern(70_000))];
  const files = (...ids: string[]) => ids.map(upload_id => named({ upload_id }));
  const draftId = (await createDraft(desk.deps, { ...message, attachments: files(one, one) })).id;
  const edit = async (attachments: ReturnType<typeof files> | null, content: Uint8Array[]) => {
    await updateDraft(desk.deps, { ...owner, draftId, attachments });
    t.same(faultsOf(house), []);
    const shown = (await filesOfDraft(house, draftId)).map(file => file.content);
    t.same(
      shown,
      content.map(bytes => Buffer.from(bytes).toString('base64')),
    );
  };
  t.equal(countChunks(house.store), CHUNKS + 2 + 1, 'each file once, and the text');
  await edit(files(one), [FILE]);
  await edit(files(one, two), [FILE, pattern(70_000)]);
  await edit(null, []);
  await edit(files(two, one, two), [pattern(70_000), FILE, pattern(70_000)]);
  await updateDraft(desk.deps, { ...owner, draftId, subject: 'Others' });
  t.same(faultsOf(house), []);
  for (const uploadId of [one, two]) await deleteUpload(house, { accountId: house.account, uploadId });
  house.now.ms += DAY_MS;
  await house.sweepAll();
  const { message: sent } = await sendDraft(desk.deps, { ...owner, draftId });
  await desk.settled();
  t.equal((await filesSent(house, sent.id)).length, 3);
  const tooMuch = await upload(house, pattern(2_000_000));
  const second = (await createDraft(desk.deps, message)).id;
  const big = { ...owner, draftId: second, attachments: files(tooMuch, tooMuch) };
  t.match(await outcomeOf(() => updateDraft(desk.deps, big)), { failure: { code: 'message_too_large' } });
  t.match(
    await outcomeOf(() => createDraft(desk.deps, { ...message, attachments: files(tooMuch, tooMuch) })),
    {
      failure: { code: 'message_too_large' },
    },
  );
  t.same(faultsOf(house), []);
});

t.test('files of received and of sent messages, in every state of these', async t => {
  const { house, desk, owner, message, submit } = await withDesk(t);
  const id = await house.receive(LETTER, owner.inboxId);
  const reference = { message_id: id, attachment_id: ATTACHMENT };
  t.match(await submit(reference), { failure: { code: 'reply_not_ready', message: /attachments\[0\]/ } });
  await index(house, id, parseForReal);
  const filesOf = async (attachments: object[]) => {
    const sent = await submit(...attachments);
    if (!sent.ok) throw new Error(JSON.stringify(sent.failure));
    await desk.settled();
    return { id: sent.value.message.id, files: await filesSent(house, sent.value.message.id) };
  };
  const whole = { content: FILE.toString('base64') };
  const first = await filesOf([reference, { ...reference, filename: 'b.bin', type: 'a/b' }]);
  t.match(first.files, [
    { filename: 'Report.pdf', type: 'application/pdf', ...whole },
    { filename: 'b.bin', type: 'a/b', ...whole },
  ]);
  const again = await filesOf([{ message_id: first.id, attachment_id: '2' }]);
  t.match(again.files, [{ filename: 'b.bin', type: 'a/b', ...whole }]);
  const reply = await replyMessage(desk.deps, 'reply', {
    ...owner,
    message_id: id,
    text: 'Back to you',
    attachments: [reference],
  });
  t.match(await filesSent(house, reply.message.id), [{ filename: 'Report.pdf', ...whole }]);
  const draft = await createDraft(desk.deps, { ...message, attachments: [reference] });
  t.match(await filesOfDraft(house, draft.id), [
    { filename: 'Report.pdf', type: 'application/pdf', ...whole },
  ]);

  const refused = async (attachment: object, message: RegExp, what: string) =>
    t.match(await submit(attachment), { failure: { code: 'not_found', message } }, what);
  await refused({ ...reference, attachment_id: '99' }, /attachment_id/, 'another file');
  await refused({ ...reference, message_id: 'x' }, /message_id/, 'no id');
  await trashMessage(house, { accountId: house.account, messageId: id, kind: 'received' });
  await refused(reference, /message_id/, 'in Trash');
  await deleteMessage(house, { accountId: house.account, messageId: id, kind: 'received' });
  await refused(reference, /message_id/, 'deleted');
  t.same(faultsOf(house), []);
});

t.test('a name that is not safe, and a content that cannot be read', async t => {
  const { house, owner, submit } = await withDesk(t);
  const file = { filename: '..', type: 'image/png', bytes: Buffer.from('abc') };
  const id = await receive(house, owner.inboxId, mimeLetter({ text: 'Hi', files: [file] }));
  const sent = await submit({ message_id: id, attachment_id: ATTACHMENT });
  t.match(await filesSent(house, sent.ok ? sent.value.message.id : ''), [
    { filename: 'attachment.png', type: 'image/png', content: 'YWJj' },
  ]);
  const record = house.message(id)!;
  await house.store.write(writer => writer.remove(blobChunksTable, { id: record.content!.id, index: 0 }));
  const unread = await submit({ message_id: id, attachment_id: ATTACHMENT });
  t.match(unread, { failure: { code: 'content_unavailable' } });
});

t.test('what belongs to another account is not there', async t => {
  const { house, owner, submit } = await withDesk(t);
  const stranger = await house.addAccount('stranger@elsewhere.example');
  const theirs = await house.addInbox('theirs', stranger);
  const uploadId = await upload(house, FILE, stranger);
  const id = await receive(house, theirs);
  const missing = '0190b1f0-0000-7000-8000-00000000000a';
  const words = async (attachment: object) => {
    const outcome = await submit(attachment);
    return outcome.ok ? outcome : outcome.failure;
  };
  t.same(await words(named({ upload_id: uploadId })), await words(named({ upload_id: missing })));
  t.same(
    await words({ message_id: id, attachment_id: ATTACHMENT }),
    await words({ message_id: missing, attachment_id: ATTACHMENT }),
  );
  t.match(await outcomeOf(() => deleteUpload(house, { accountId: owner.accountId, uploadId })), {
    failure: { code: 'not_found' },
  });
  t.same(faultsOf(house), []);
});

t.test('a keyed retry is answered though what it refers to is gone', async t => {
  const { house, desk, message, owner } = await withDesk(t);
  const uploadId = await upload(house, FILE);
  const id = await receive(house, owner.inboxId);
  const attachments = [named({ upload_id: uploadId }), { message_id: id, attachment_id: ATTACHMENT }];
  const send = { ...message, attachments, idempotency_key: 'k' };
  const save = { ...message, attachments, idempotency_key: 'd' };
  const first = await sendMessage(desk.deps, send);
  const draft = await createDraft(desk.deps, save);
  await desk.settled();
  await deleteUpload(house, { accountId: house.account, uploadId });
  await deleteMessage(house, { accountId: house.account, messageId: id, kind: 'received' });
  await house.sweepAll();
  const again = await sendMessage(desk.deps, send);
  t.match(again, {
    ok: true,
    value: { replayed: true, message: { id: first.ok && first.value.message.id } },
  });
  t.match(await createDraft(desk.deps, save), { replayed: true, id: draft.id });
  const [changed] = [{ ...send, attachments: [attachments[0]!] }];
  t.match(await sendMessage(desk.deps, changed), { failure: { code: 'idempotency_conflict' } });
  t.match(await sendMessage(desk.deps, { ...send, idempotency_key: 'l' }), {
    failure: { code: 'not_found' },
  });
  t.same(faultsOf(house), []);
});

t.test('an upload that goes while it is attached is refused, and nothing is sent', async t => {
  const { house, desk, submit } = await withDesk(t);
  for (let round = 0; round < 20; round++) {
    const uploadId = await upload(house, FILE);
    const sending = submit(named({ upload_id: uploadId }));
    for (let turn = 0; turn < round; turn++) await new Promise(resolve => setImmediate(resolve));
    await deleteUpload(house, { accountId: house.account, uploadId });
    await house.sweepAll();
    const outcome = await sending;
    await desk.settled();
    if (outcome.ok) {
      t.equal((await filesSent(house, outcome.value.message.id))[0]?.content, FILE.toString('base64'));
    } else t.equal(outcome.failure.code, 'not_found');
    t.same(faultsOf(house), [], `round ${round}`);
  }
});
