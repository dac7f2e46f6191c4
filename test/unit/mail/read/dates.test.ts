import t from 'tap';
import { contentWithHeader } from './parse-text.js';

async function date(value: string): Promise<string | null> {
  return (await contentWithHeader(`Date: ${value}`)).date;
}

t.test('what parses becomes ISO 8601 in UTC', async t => {
  const noon = '2026-11-27T12:00:00.000Z';
  for (const written of [
    'Fri, 27 Nov 2026 12:00:00 +0000',
    '27 Nov 2026 12:00 GMT',
    'Fri, 27 Nov 2026 14:30:00 +0230',
    'Fri, 27 Nov 2026 07:00:00 EST',
    'Fri, 27 Nov 2026 12:00:00 -0000 (UTC (so they say))',
    'Fri,\n 27  Nov\n\t2026 12:00:00 UT',
    'Fri, 27 Nov 26 12:00:00 Z',
    'Fri, 27 Nov 126 12:00:00 Z',
    'Friday, 27-Nov-2026 12:00:00 GMT+00:00',
    'Mon, 27 November 2026 12:00:00 XQZT',
    'Fri Nov 27 12:00:00 2026',
    '2026-11-27T12:00:00Z',
    '2026-11-27 13:00:00.123+01:00',
  ]) {
    t.equal(await date(written), noon, written);
  }
  t.equal(await date('31 Dec 1999 23:59:60 +0000'), '2000-01-01T00:00:00.000Z', 'a leap second');
  t.equal(
    await date('1 Jan 70 00:00:00 +0000'),
    '1970-01-01T00:00:00.000Z',
    'two digits of the last century',
  );
  t.equal(await date('29 Feb 2024 00:30:00 +0100'), '2024-02-28T23:30:00.000Z', 'a day back');
});

t.test('what does not parse stays as written, unfolded', async t => {
  for (const written of [
    'some time last week',
    'Fri, 27 Nov 2026 25:00:00 +0000',
    'Fri, 27 Nov 2026 12:60:00 +0000',
    'Sun, 29 Feb 2026 12:00:00 +0000',
    'Fri, 27 Nxv 2026 12:00:00 +0000',
    'Fri, 27 Nov 2026 12:00:00 +0099',
    `Fri, 27 Nov 2026 12:00:00 +0000 ${'('.repeat(300)}`,
  ]) {
    t.equal(await date(written), written, written.slice(0, 40));
  }
  t.equal(await date('some\n time'), 'some time');
});

t.test('nothing becomes null', async t => {
  t.equal(await date(''), null);
  t.equal(await date(' \n '), null);
  t.equal((await contentWithHeader('Subject: x')).date, null);
});

t.test('comments may stand between any two tokens, as RFC 5322 appendix A.5 shows', async t => {
  for (const written of [
    'Thu,\n      13\n        Feb\n          1969\n      23:32\n               -0330 (Newfoundland Time)',
    'Thu(day),13(x)Feb(y)1969(z)23(h):(m)32(n)-0330(zone)',
    '(a) Thu (b) , (c (d)) 13 (e \\) f) Feb 1969 23 : 32 : 00 -0330',
  ]) {
    t.equal(await date(written), '1969-02-14T03:02:00.000Z', written);
  }
});
