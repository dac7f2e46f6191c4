import t from 'tap';
import { parseText } from './parse-text.js';

t.test('the header text stays, the ids are found in it', async t => {
  const { content, ids } = await parseText(
    [
      'Message-ID: <m@a.example> (added by relay)',
      'In-Reply-To: Your message of "Friday <no@id>" <a@a.example>',
      'References: <r1@a.example><r2@a.example>\n\t(see <c@a.example>) words <r 3@a.example> <>',
      '',
      'Body',
    ].join('\n'),
  );
  t.equal(content.message_id, '<m@a.example>');
  t.equal(content.in_reply_to, 'Your message of "Friday <no@id>" <a@a.example>');
  t.equal(content.references, '<r1@a.example><r2@a.example> (see <c@a.example>) words <r 3@a.example> <>');
  t.same(ids, {
    messageId: 'm@a.example',
    references: ['r1@a.example', 'r2@a.example', 'r3@a.example'],
    inReplyTo: ['a@a.example'],
  });
});

t.test('brackets are neither added nor needed, and words are not decoded', async t => {
  const { content, ids } = await parseText(
    'Message-ID: m@a.example\nIn-Reply-To: =?utf-8?Q?a?= a.b@a.example\nReferences: <open@a.example\n\nBody',
  );
  t.equal(content.message_id, 'm@a.example');
  t.equal(content.in_reply_to, '=?utf-8?Q?a?= a.b@a.example');
  t.equal(content.references, '<open@a.example');
  t.same(ids, { messageId: 'm@a.example', references: [], inReplyTo: ['a.b@a.example'] });
});

t.test('absent and empty fields are null', async t => {
  for (const header of ['Subject: x', 'Message-ID:\nReferences: \nIn-Reply-To:\n ']) {
    const { content, ids } = await parseText(`${header}\n\nBody`);
    t.match(content, { message_id: null, references: null, in_reply_to: null });
    t.same(ids, { messageId: null, references: [], inReplyTo: [] });
  }
});

t.test('of too many references the last are kept', async t => {
  const references = Array.from({ length: 50 }, (_, i) => `<r${i}@a.example>`).join('\n ');
  const { content, ids } = await parseText(`References: ${references}\n\nBody`, { threadIds: 2 });
  t.match(content.references, /<r49@a\.example>$/);
  t.same(ids.references, ['r48@a.example', 'r49@a.example']);
});

t.test('two References fields count together', async t => {
  const { ids } = await parseText('References: <a@a.example>\nReferences: <b@a.example>\n\nBody');
  t.same(ids.references, ['a@a.example', 'b@a.example']);
});

t.test('of prose in In-Reply-To only the last id counts: an address in it joins nobody', async t => {
  const parentsIn = async (value: string) => (await parseText(`In-Reply-To: ${value}\n\nBody`)).ids.inReplyTo;
  for (const prose of [
    'Message from Ann <ann@a.example> of "Mon, 3 Jan" <id@a.example>',
    'Ann <ann@a.example> <id@a.example>',
    '<ann@a.example> wrote on Monday <id@a.example>',
    '<ann@a.example>, "Ann" <b@a.example>; <id@a.example>',
    'Your mail to ann@a.example of Monday: <id@a.example>',
    'Your mail to ann@a.example id@a.example',
  ]) {
    t.same(await parentsIn(prose), ['id@a.example'], prose);
  }
  for (const list of [
    '<a@a.example> <id@a.example>',
    '<a@a.example>,<id@a.example> (from <ann@a.example>)',
    '(Ann) <a@a.example>\n\t<id@a.example> of Monday',
    'a@a.example, id@a.example',
  ]) {
    t.same(await parentsIn(list), ['a@a.example', 'id@a.example'], list);
  }
});
