// The third day: what time has not taken yet when the store is looked at, and what a kill leaves.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attached, file, letter, lines, textLetter, to } from './letters.mjs';

const OUTSIDE = 'carl@elsewhere.example';

export async function liveThirdDay(life, people) {
  const { ann, main, second, gone, leaving, bens, first, trashed, freed } = people;
  const { cli, call, facts } = life;
  const path = `/v1/inboxes/${main.id}`;
  const keyed = [
    ['sent', to(bens.address, { attachments: [attached('keyed.txt', 60)], idempotency_key: 'send-1' })],
    ['drafts', { text: 'A draft with a key', idempotency_key: 'draft-1' }],
    ['reply', { message_id: first, text: 'An answer with a key', idempotency_key: 'reply-1' }],
  ].map(([name, post]) => ({ as: 'ann', path: `${path}/${name}`, post }));
  keyed.push({ as: 'ann', path: '/v1/inboxes', post: { local_part: 'keyed', idempotency_key: 'inbox-1' } });
  for (const { path, post } of keyed) await call(ann.api, 'POST', path, post);
  await facts(({ pending }) => pending.parse === 0);
  const { phrase } = await cli('approve', 'dora@elsewhere.example');

  const waiting = { text: lines('waits', 67_000, '\n'), attachments: [attached('waits.txt', 140_000)] };
  const [waits, trashedFirst] = await life.holdUp(
    body => call(ann.api, 'POST', `${path}/sent`, body),
    to(OUTSIDE, { subject: 'Started 1', attachments: [attached('started.txt', 70_000)] }),
    to(OUTSIDE, { subject: 'Started 2', text: lines('started', 70_000, '\n') }),
    to(bens.address, { subject: 'Waits', ...waiting, idempotency_key: 'send-2' }),
    to(bens.address, { subject: 'Trashed before it started' }),
  );
  await call(ann.api, 'POST', `/v1/sent/${trashedFirst}/trash`);
  const { pending, cut, poison } = await endInTheMiddle(life, people);
  // Nobody sweeps any more: what is deleted now is freed by the next daemon.
  await cli('message', 'delete', freed);
  await cli('inbox', 'delete', leaving.address);
  const store = await cutOff(life, cut, poison);
  const isGone = [gone, leaving].map(({ id }) => `/v1/inboxes/${id}`);
  return {
    store,
    replays: keyed,
    hidden: [...isGone, `/v1/messages/${freed}`, `/v1/messages/${trashed}`],
    second,
    unparsed: [...pending, cut],
    later: {
      send: { as: 'ann', id: waits, to: 'ben', inboxId: bens.id },
      claim: { phrase },
    },
  };
}

/** Mail comes while Redis stands still, so that none of it is parsed; then all is killed. */
async function endInTheMiddle({ product, box, call, facts }, { ann, main }) {
  const { deliver } = await product('test/support/deliver.js');
  const { SmtpClient } = await product('test/support/smtp-client.js');
  const redis = Number(readFileSync(join(box.dataDir, 'redis/redis.pid'), 'utf8'));
  process.kill(redis, 'SIGSTOP');
  const arrive = message => deliver(box, main.address, message);
  const large = { text: lines('pending', 80_000, '\r\n'), html: '<p>pending</p>' };
  const pending = [
    await arrive(textLetter('pending', 'Not parsed yet\r\n', ['<plan@client.example>'])),
    await arrive(letter('pending2', { ...large, files: [file('pending.txt', 140_000)] })),
  ];
  const cut = await arrive(letter('cut', { text: 'Cut off\r\n', files: [file('cut.txt', 200_000)] }));
  const poison = await arrive(letter('poison', { text: 'Hostile\r\n', files: [file('poison.txt', 70_000)] }));
  const trashed = await arrive(textLetter('pending3', 'Trashed before it was parsed\r\n'));
  await call(ann.api, 'POST', `/v1/messages/${trashed}/trash`);
  const endless = await SmtpClient.ready(box.smtpPort);
  await endless.openData('sender@client.example', [main.address]);
  await endless.write(textLetter('endless', lines('endless', 300_000, '\r\n')));
  await facts(({ uploads }) => uploads === 1);
  await box.kill();
  process.kill(redis, 'SIGKILL');
  return { pending, cut, poison };
}

/**
 * What else a kill can leave, at moments that are too short to be hit: the use cases come as far as that and no
 * further. And a message that its parser gave up, without one that takes a minute.
 */
async function cutOff({ product, box, clock, facts }, cut, poison) {
  const { openStore } = await product('test/support/store-facts.js');
  const { BlobUploads } = await product('src/store/blob-upload.js');
  const { indexMessage } = await product('src/usecases/index-message.js');
  const { DraftUploads } = await product('src/usecases/draft-uploads.js');
  const { OutgoingUploads } = await product('src/usecases/outgoing-uploads.js');
  // Uploads go by the clock of the process.
  Date.now = () => clock;
  const store = openStore(box);
  const uploads = new BlobUploads(store);
  const log = { warn() {}, info() {} };
  const parse = (id, parser) =>
    indexMessage({ store, uploads, clock: () => clock, log, maxTries: 3, parser: { parse: parser } }, id);
  await parse(poison, async () => ({ status: 'gave_up', reason: 'timeout', detail: '' }));
  await new Promise(reached => {
    parse(cut, async (_source, sink) => {
      sink.begin('1');
      for (let n = 0; n < 3; n++) await sink.write(Buffer.from(lines(`cut ${n}`, 70_000, '\n')));
      reached();
      return new Promise(() => {});
    });
  });
  const orphan = { ...attached('orphan.txt', 0), bytes: Buffer.from(lines('orphan', 150_000, '\n')) };
  const text = lines('orphan', 140_000, '\n');
  await new DraftUploads(uploads).add({ text, files: [orphan] });
  await new OutgoingUploads(uploads).add({ text, html: null, files: [orphan] });
  await facts(now => now.uploads === 6);
  return store;
}
