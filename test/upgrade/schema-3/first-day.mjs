// The first day in the life of the store: everything that a client leaves there, in every size that is kept
// differently.
import { attached, file, letter, lines, textLetter, to } from './letters.mjs';

const OUTSIDE = 'carl@elsewhere.example';

export async function liveFirstDay(life) {
  const people = await makePeople(life);
  const received = await receiveMail(life, people);
  const sent = await sendMail(life, people, received);
  await writeDrafts(life, people, received);
  await tidyUp(life, people, received, sent);
  const send = body => life.call(people.ann.api, 'POST', `/v1/inboxes/${people.main.id}/sent`, body);
  await life.holdUp(
    send,
    to(OUTSIDE, { subject: 'Cut off 1' }),
    to(OUTSIDE, { subject: 'Cut off 2' }),
    to(OUTSIDE, { subject: 'Held', text: lines('held', 66_000, '\n') }),
  );
  return { ...people, ...received };
}

async function makePeople({ box, cli, call, credentials }) {
  const keyOf = async (name, email) => {
    const { credential, key_id } = await cli('key', 'create', '--account', email, '--name', name);
    credentials[name] = credential;
    return { api: box.api(credential), key_id };
  };
  const person = async name => {
    await cli('account', 'create', `${name}@agents.example.net`);
    return keyOf(name, `${name}@agents.example.net`);
  };
  const ann = await person('ann');
  const ben = await person('ben');
  const { accounts } = await cli('account', 'list');
  await keyOf('operator', accounts.find(({ email }) => !email.includes('agents')).account_id);
  await cli('key', 'revoke', (await keyOf('revoked', 'ben@agents.example.net')).key_id);
  await cli('allowance', 'set', '--account', 'ann@agents.example.net', '--sends', '500', '--inboxes', '7');
  const { phrase } = await cli('approve', 'ben@agents.example.net');
  const claim = { phrase, intended_use: 'To read along', discovery_source: 'A friend' };
  credentials.claimed = (await call(box.api(), 'POST', '/v1/claims', claim)).credential;

  const inbox = (who, local_part, more) => call(who.api, 'POST', '/v1/inboxes', { local_part, ...more });
  const main = await inbox(ann, 'ann', { name: 'Main', sender_name: 'Änn of Example' });
  const second = await inbox(ann, 'second');
  const gone = await inbox(ann, 'gone');
  const leaving = await inbox(ann, 'leaving');
  const bens = await inbox(ben, 'ben', { sender_name: 'Ben' });
  await cli('policy', 'receiving', 'set', bens.address, '--enable', '--domain', 'spam.example');
  await cli('policy', 'sending', 'set', second.address, '--enable', '--domain', 'example.org');
  await cli('suppression', 'add', 'blocked@elsewhere.example', '--reason', 'asked for it');
  await call(ann.api, 'POST', '/v1/feedback', { title: 'More', body: 'We need more recipients.' });
  return { ann, ben, main, second, gone, leaving, bens };
}

async function receiveMail(life, { ann, ben, main, second, gone, leaving, bens }) {
  const { CHUNK_BYTES } = await life.product('src/store/blobs.js');
  const { contentsTable } = await life.product('src/store/messages.js');
  const { SmtpClient } = await life.product('test/support/smtp-client.js');
  const receive = (inbox, message) => life.receive(ann, inbox.address, message);

  const first = await receive(main, textLetter('first', 'Hello Ann\r\n'));
  await receive(main, 'Subject:\r\n\r\n');
  const mixed = letter('mixed', {
    text: 'Grüße aus dem Text\r\n',
    html: '<p>Grüße aus dem <b>HTML</b> <img src="cid:dot@client.example"></p>\r\n',
    files: [
      file('three-chunks.txt', 3 * CHUNK_BYTES - 1000),
      file('Übersicht “2026” 東京.pdf', 700),
      file('empty.txt', 0),
      { ...file('dot.png', 90), contentId: 'dot@client.example' },
    ],
  });
  const mixedId = await receive(main, mixed);
  const edges = [-1, 0, 1].map(more => file(`chunk${more}.txt`, CHUNK_BYTES + more));
  const edgesId = await receive(main, letter('edges', { text: 'About as long as chunks\r\n', files: edges }));
  const long = {
    text: lines('text', 150_000, '\r\n'),
    html: `<pre>\r\n${lines('html', 70_000, '\r\n')}</pre>`,
  };
  const longId = await receive(main, letter('long', long));

  // The longest content beside a record, and the shortest in chunks.
  const probe = await receive(main, textLetter('edge0', lines('probe', 60_000, ' ')));
  const fits = 60_000 + CHUNK_BYTES - (await life.sizeIn(contentsTable, probe));
  const longest = await receive(main, textLetter('edge1', lines('probe', fits, ' ')));
  const shortest = await receive(main, textLetter('edge2', lines('probe', fits + 1, ' ')));
  const sizes = [await life.sizeIn(contentsTable, longest), await life.sizeIn(contentsTable, shortest)];
  if (sizes[0] !== CHUNK_BYTES || sizes[1] !== undefined) throw new Error(`contents of ${sizes} bytes`);

  // One message for three inboxes: its bytes have two owners left when one has deleted it.
  const three = [main, second, bens].map(({ address }) => address);
  const client = await SmtpClient.ready(life.box.smtpPort);
  await client.sendMail(
    'sender@client.example',
    three,
    textLetter('shared', lines('shared', 140_000, '\r\n')),
  );
  await client.close();
  const newest = async (who, { id }) => (await who.api.page(id, '?limit=1')).messages[0].id;
  for (const inbox of [main, second]) await ann.api.finished(await newest(ann, inbox));
  await life.call(ben.api, 'DELETE', `/v1/messages/${await newest(ben, bens)}`);

  // Two conversations that a late message ties together, and one that ends in Trash.
  const answer = (id, ...to) =>
    receive(
      main,
      textLetter(
        id,
        `This is ${id}\r\n`,
        to.map(one => `<${one}@client.example>`),
      ),
    );
  await answer('plan');
  await answer('plan2', 'plan');
  await answer('budget');
  await answer('budget2', 'budget');
  const late = await answer('late', 'plan2', 'budget');
  await answer('old');
  const thrownAway = await answer('old2', 'old');

  const bulky = (id, size) =>
    letter(id, { text: lines(id, size, '\r\n'), files: [file(`${id}.txt`, 150_000)] });
  await receive(gone, bulky('gone', 10));
  await receive(leaving, bulky('leaving', 70_000));
  const leaver = await receive(leaving, textLetter('leaving2', 'Trashed in an inbox that goes\r\n'));
  const trashed = await receive(second, bulky('trashed', 80_000));
  const small = await receive(second, textLetter('trashed2', 'Small\r\n'));
  const back = await receive(second, bulky('back', 20));
  const freed = await receive(second, bulky('freed', 20));
  return {
    ...{ first, mixed: mixedId, edges: edgesId, long: longId, late },
    ...{ thrownAway, leaver, trashed, small, back, freed },
  };
}

async function sendMail(life, { ann, main, bens }, { mixed, edges, late }) {
  const { drop, say } = await life.product('test/support/smarthost-script.js');
  const { CHUNK_BYTES } = await life.product('src/store/blobs.js');
  const { sentContentsTable } = await life.product('src/store/sent.js');
  const post = (path, body) => life.call(ann.api, 'POST', `/v1/inboxes/${main.id}/${path}`, body);
  const send = body => post('sent', body);

  const files = [attached('small.txt', 500), attached('nothing.txt', 0)];
  await send(to(bens.address, { labels: ['to-ben'], attachments: files }));
  const copies = {
    cc: [{ address: 'copy@elsewhere.example', name: 'Cöpy' }],
    bcc: [{ address: 'blind@elsewhere.example' }],
  };
  await send(to(OUTSIDE, { ...copies, html: '<p>Here they are.</p>' }));
  const large = {
    subject: 'Large',
    text: lines('sent text', 80_000, '\n'),
    html: `<pre>${lines('sent html', 70_000, '\n')}</pre>`,
    attachments: [attached('two-chunks.txt', 2 * CHUNK_BYTES), attached('and.txt', 10)],
  };
  const big = await send(to(OUTSIDE, large));
  const sendText = bytes => send(to(OUTSIDE, { text: lines('sent edge', bytes, ' ') }));
  const sizeOf = async ({ message }) => life.sizeIn(sentContentsTable, message.id);
  const fits = 60_000 + CHUNK_BYTES - (await sizeOf(await sendText(60_000)));
  const sizes = [await sizeOf(await sendText(fits)), await sizeOf(await sendText(fits + 1))];
  if (sizes[0] !== CHUNK_BYTES || sizes[1] !== undefined) throw new Error(`bodies of ${sizes} bytes`);

  life.smarthost.script = { rcpt: say('550 5.1.1 No such user') };
  const nobody = { subject: 'Refused', attachments: [attached('refused.txt', 70_000)] };
  await send(to('nobody@elsewhere.example', nobody));
  life.smarthost.script = { dot: drop };
  await send(to(OUTSIDE, { subject: 'Nobody knows' }));
  life.smarthost.script = {};
  await send(to('blocked@elsewhere.example', { subject: 'Suppressed' }));

  const answer = { text: 'An answer', html: '<p>An answer</p>', labels: ['answered'] };
  await post('reply', { message_id: mixed, ...answer });
  const everybody = { text: 'To everybody', attachments: [attached('all.txt', 66_000)] };
  await post('reply-all', { message_id: late, ...everybody });
  await post('forward', { message_id: edges, to: [{ address: OUTSIDE }], note: 'See below' });
  await post('forward', { message_id: mixed, to: [{ address: bens.address }], include_attachments: false });
  const trash = { text: lines('trash', 70_000, '\n'), attachments: [attached('trash.txt', 70_000)] };
  const thrown = await send(to(OUTSIDE, { subject: 'To Trash', ...trash }));
  return { big: big.message.id, thrown: thrown.message.id };
}

async function writeDrafts(life, { ann, ben, main, bens, leaving }, { mixed, edges }) {
  const { CHUNK_BYTES } = await life.product('src/store/blobs.js');
  const { call } = life;
  const save = (who, inbox, body) => call(who.api, 'POST', `/v1/inboxes/${inbox.id}/drafts`, body);
  const draft = body => save(ann, main, body);
  const edit = ({ id }, body) => call(ann.api, 'PATCH', `/v1/drafts/${id}`, body);
  const text = (name, bytes) => lines(name, bytes, '\n');

  await draft({});
  const small = { html: '', labels: ['later'], attachments: [attached('small.txt', 40)] };
  await draft(to(OUTSIDE, small));
  const sizes = [2 * CHUNK_BYTES + 1, 0, CHUNK_BYTES];
  const large = { text: text('draft', 90_000), html: text('draft html', 66_000) };
  await draft(to(OUTSIDE, { ...large, attachments: sizes.map(size => attached(`${size}.txt`, size)) }));
  // The longest texts beside a record, and the shortest in chunks.
  await draft({ text: text('edge', CHUNK_BYTES), html: text('edge', CHUNK_BYTES + 1) });
  await draft({ text: text('edge', CHUNK_BYTES + 1), html: text('edge', CHUNK_BYTES) });
  const before = { text: text('before', 90_000), html: '<p>before</p>' };
  const edited = await draft(to(OUTSIDE, { ...before, attachments: [attached('before.txt', 90_000)] }));
  const after = { text: 'After', html: text('after', 70_000), attachments: [attached('after.txt', 71_000)] };
  await edit(edited, after);
  await edit(await draft({ text: 'Short', html: '<p>Short</p>' }), {
    text: text('grown', 70_000),
    html: null,
  });
  await draft({ source: { action: 'reply-all', message_id: mixed }, text: 'Derived' });
  await draft({ source: { action: 'forward', message_id: edges }, to: [{ address: OUTSIDE }] });
  const submitted = { text: text('submitted', 70_000), attachments: [attached('submitted.txt', 70_000)] };
  const { id } = await draft(to(OUTSIDE, submitted));
  await call(ann.api, 'POST', `/v1/drafts/${id}/send`, {});
  const deleted = await draft({ text: text('deleted', 70_000) });
  await call(ann.api, 'DELETE', `/v1/drafts/${deleted.id}`);
  await save(ann, leaving, { text: 'Goes with its inbox', attachments: [attached('leaving.txt', 70_000)] });
  await save(ben, bens, to(main.address, { subject: 'Of Ben' }));
}

async function tidyUp({ call, facts }, { ann, gone }, received, sent) {
  const { first, mixed, edges, long, late, thrownAway, leaver, trashed, small, back } = received;
  const label = (path, ...add_labels) => call(ann.api, 'PATCH', path, { add_labels });
  const threadOf = async id => `/v1/threads/${(await ann.api.detail(id)).thread_id}`;
  await label(`/v1/messages/${mixed}`, 'work', 'urgent');
  await label(`/v1/messages/${late}`, 'work');
  await label(`/v1/messages/${trashed}`, 'kept-in-trash');
  await label(`/v1/sent/${sent.big}`, 'work');
  await label(await threadOf(late), 'tied');
  const read = { message_ids: [first, edges, long], add_labels: ['read', 'a b/ü'] };
  await call(ann.api, 'PATCH', '/v1/messages/labels', read);
  await call(ann.api, 'DELETE', await threadOf(thrownAway));
  for (const id of [leaver, trashed, small, back]) await call(ann.api, 'POST', `/v1/messages/${id}/trash`);
  await call(ann.api, 'POST', `/v1/messages/${back}/restore`);
  await call(ann.api, 'POST', `/v1/sent/${sent.thrown}/trash`);
  await call(ann.api, 'DELETE', `/v1/inboxes/${gone.id}`);
  const isFreed = ({ uploads, pending }) =>
    uploads + pending['purge-blob'] + pending['purge-inbox'] + pending['purge-thread'] === 0;
  await facts(isFreed);
}
