import t from 'tap';
import { parseMail, parseRcpt } from '../../../../src/smtp/mail-command.js';

t.test('MAIL takes what EHLO offers', async t => {
  t.match(parseMail('MAIL FROM:<a@b.example>'), {
    reversePath: { written: 'a@b.example' },
    declaredBytes: null,
  });
  t.match(parseMail('mail from: <a@b.example>  size=123 BODY=8bitmime SMTPUTF8'), { declaredBytes: 123 });
  t.match(parseMail('MAIL FROM:<> BODY=7BIT'), { reversePath: { written: '' } });
});

t.test('and nothing else', async t => {
  for (const parameter of [
    'SIZE',
    'SIZE=',
    'SIZE=x',
    'SIZE=-1',
    'SIZE=1 SIZE=1',
    'BODY=BINARYMIME',
    'BODY',
    'SMTPUTF8=1',
  ]) {
    t.match(parseMail(`MAIL FROM:<a@b.example> ${parameter}`), { code: 501, line: '501 5.5.4 ' }, parameter);
  }
  for (const parameter of ['RET=HDRS', 'AUTH=<>', 'REQUIRETLS', 'X']) {
    t.match(parseMail(`MAIL FROM:<a@b.example> ${parameter}`), { code: 555, line: '555 5.5.4 ' }, parameter);
  }
});

t.test('a bad address is named as such', async t => {
  for (const line of [
    'MAIL',
    'MAIL FROM',
    'MAIL FROM:',
    'MAIL TO:<a@b.example>',
    'MAIL FROM:<postmaster>',
    'MAIL FROM:a@b.example',
  ]) {
    t.match(parseMail(line), { code: 501, line: '501 5.1.7 ' }, line);
  }
  for (const line of ['RCPT', 'RCPT TO:', 'RCPT TO:<>', 'RCPT FROM:<a@b.example>']) {
    t.match(parseRcpt(line), { code: 501, line: '501 5.1.3 ' }, line);
  }
  t.match(parseRcpt('RCPT TO:<a@b.example> NOTIFY=NEVER'), { code: 555 });
  t.match(parseRcpt('rcpt to:<a@b.example> '), { written: 'a@b.example' });
});
