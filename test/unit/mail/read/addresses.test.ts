import t from 'tap';
import { contentWithHeader, utf8 } from './parse-text.js';

async function to(value: string): Promise<unknown> {
  return (await contentWithHeader(`To: ${value}`)).to;
}

t.test('names, comments and quoted strings', async t => {
  t.same(await to('ann@a.example'), [{ name: '', address: 'ann@a.example' }]);
  t.same(await to('Ann B <ann@a.example>'), [{ name: 'Ann B', address: 'ann@a.example' }]);
  t.same(await to('"B, \\"Ann\\"" <ann@a.example>'), [{ name: 'B, "Ann"', address: 'ann@a.example' }]);
  t.same(await to('ann@a.example (Ann (the first))'), [
    { name: 'Ann (the first)', address: 'ann@a.example' },
  ]);
  t.same(await to('"boss@bank.example" <x@a.example>'), [
    { name: 'boss@bank.example', address: 'x@a.example' },
  ]);
  t.same(await to('boss@bank.example <x@a.example>'), [
    { name: 'boss@bank.example', address: 'x@a.example' },
  ]);
  t.same(await to('Postmaster'), [{ name: 'Postmaster', address: '' }]);
});

t.test('encoded words in names are decoded after the structure is known', async t => {
  t.same(await to('=?utf-8?Q?=3A=2C?= <x@a.example>'), [{ name: ':,', address: 'x@a.example' }]);
  t.same(await to('=?utf-8?Q?a:b?= <x@a.example>'), [{ name: 'a:b', address: 'x@a.example' }]);
  t.same(await to('"=?utf-8?Q?J=C3=B6rg?=" <x@a.example>'), [{ name: 'Jörg', address: 'x@a.example' }]);
  t.same(await to(utf8('Jörg <jörg@bücher.example>')), [{ name: 'Jörg', address: 'jörg@bücher.example' }]);
});

t.test('an address keeps its domain whatever stands around it', async t => {
  t.same(await to('<ann@good.\n example>'), [{ name: '', address: 'ann@good.example' }]);
  t.same(await to('<ann@goo\n d.example>'), [{ name: '', address: 'ann@good.example' }]);
  t.same(await to('ann@good.example(x)evil.example'), [
    { name: 'evil.example', address: 'ann@good.example' },
  ]);
  t.same(await to('<@relay.example,@b.example:ann@a.example>'), [{ name: '', address: 'ann@a.example' }]);
  t.same(await to('"v@evil.example x"@a.example'), [{ name: '', address: '"v@evil.example x"@a.example' }]);
  t.same(await to('<"john.doe"@a.example>'), [{ name: '', address: 'john.doe@a.example' }]);
  t.same(await to('ann . b @ a . example'), [{ name: '', address: 'ann.b@a.example' }]);
  t.same(await to('a@b.example@c.example'), [{ name: '', address: 'a@b.example@c.example' }]);
  t.same(await to('u@[IPv6:2001:db8::1]'), [{ name: '', address: 'u@[IPv6:2001:db8::1]' }]);
  t.same(await to('u@xn--a.example'), [{ name: '', address: 'u@xn--a.example' }]);
});

t.test('groups', async t => {
  t.same(await to('Undisclosed recipients:;'), [{ name: 'Undisclosed recipients', group: [] }]);
  t.same(await to('Team: a@a.example, "B, C" <b@a.example>; d@a.example'), [
    {
      name: 'Team',
      group: [
        { name: '', address: 'a@a.example' },
        { name: 'B, C', address: 'b@a.example' },
      ],
    },
    { name: '', address: 'd@a.example' },
  ]);
  t.same(await to('Team: a@a.example'), [{ name: 'Team', group: [{ name: '', address: 'a@a.example' }] }]);
});

t.test('broken lists lose nothing', async t => {
  const two = [
    { name: 'A', address: 'a@a.example' },
    { name: 'B', address: 'b@a.example' },
  ];
  t.same(await to('A <a@a.example> B <b@a.example>'), two, 'no comma');
  t.same(await to('A <a@a.example>; B <b@a.example>'), two, 'semicolons');
  t.same(await to('A <a@a.example, B <b@a.example'), two, 'brackets that are not closed');
  t.same(await to('"A <a@a.example>, B <b@a.example>'), two, 'a quote that is not closed');
  t.same(await to('(A <a@a.example>, B <b@a.example>'), two, 'a comment that is not closed');
  t.same(await to(',, a@a.example ,,'), [{ name: '', address: 'a@a.example' }], 'empty elements');
  t.same(await to('<>'), [], 'nothing at all');
});

t.test('single and repeated fields', async t => {
  const content = await contentWithHeader(
    'From: A <a@a.example>, b@a.example\nSender: s@a.example\nTo: c@a.example\nTo: d@a.example\nReply-To:\nBcc : e@a.example',
  );
  t.same(content.from, { name: 'A', address: 'a@a.example' });
  t.same(content.sender, { name: '', address: 's@a.example' });
  t.same(content.to, [
    { name: '', address: 'c@a.example' },
    { name: '', address: 'd@a.example' },
  ]);
  t.same(content.reply_to, []);
  t.same(content.cc, []);
  t.same(content.bcc, [{ name: '', address: 'e@a.example' }]);
});

t.test('names and addresses hold no control characters', async t => {
  t.same(await to('=?utf-8?Q?A=0D=0ABcc:_x=00=1B?= <a\u0000@a.example>'), [
    { name: 'A Bcc: x', address: 'a@a.example' },
  ]);
  t.same(await to(`${utf8('\u202eAnn\u2066')} <a@a.example>`), [{ name: 'Ann', address: 'a@a.example' }]);
});

t.test('the author is who can be answered: a comma in a name without quotes hides nobody', async t => {
  const author = async (from: string) => (await contentWithHeader(`From: ${from}`)).from;
  t.same(await author('Doe, Jane <jane@a.example>'), { name: 'Jane', address: 'jane@a.example' });
  t.same(await author('Doe, Jane, Dr. <jane@a.example>'), { name: 'Dr.', address: 'jane@a.example' });
  t.same(await author('Team: ;, jane@a.example'), { name: '', address: 'jane@a.example' });
  t.same(await author('nobody, somebody'), { name: 'nobody', address: '' });
  t.same(await author('a@a.example, b@a.example'), { name: '', address: 'a@a.example' });
});

t.test('each word of a field is read in its own charset', async t => {
  t.same(await to(`${utf8('Zoë')} <z@a.example>, Fran\xe7ois ${utf8('Žižek')} <f@a.example>`), [
    { name: 'Zoë', address: 'z@a.example' },
    { name: 'François Žižek', address: 'f@a.example' },
  ]);
  const { subject } = await contentWithHeader(`Subject: ${utf8('Grüße')} caf\xe9 ${utf8('日本')}`);
  t.equal(subject, 'Grüße café 日本');
});
