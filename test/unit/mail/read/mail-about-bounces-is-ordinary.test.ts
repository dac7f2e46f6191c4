import t from 'tap';
import { RECORDED_REPORTS } from '../../../support/letters/reports.js';
import { parseText } from './parse-text.js';

const FACTS = { messageId: '1@example.org', recipient: 'ann@remote.example', sender: 'agent@example.org' };

const bodyOf = (text: string): string => text.slice(text.indexOf('\n\n') + 2);
const headerOf = (text: string): string => text.slice(0, text.indexOf('\n\n'));

for (const { name, write } of RECORDED_REPORTS) {
  const report = write(FACTS);

  t.test(`${name}: forwarded as a file, or beside a text`, async t => {
    const file = `Content-Type: message/rfc822\nContent-Disposition: attachment\n\n${report}`;
    for (const kind of ['mixed', 'digest', 'report']) {
      const text = `From: ann@remote.example\nContent-Type: multipart/${kind}; boundary=outer\n\n--outer\nContent-Type: text/plain\n\nLook at this bounce\n--outer\n${file}\n--outer--\n`;
      t.equal((await parseText(text)).report, null, kind);
    }
  });

  t.test(`${name}: quoted or pasted by a human`, async t => {
    const quoted = report.replace(/^/gm, '> ');
    const pasted = bodyOf(report);
    const human = 'From: Ann <ann@remote.example>\nSubject: Undelivered mail\n\n';
    for (const text of [quoted, pasted, report, `Hi, I got this:\n\n${pasted}`])
      t.equal((await parseText(`${human}${text}`)).report, null);
    const daemon = 'From: MAILER-DAEMON@mx.remote.example\n\n';
    t.equal(
      (await parseText(`${daemon}I got this:\n\n${pasted}`)).report,
      null,
      'not from its first word on',
    );
    t.equal((await parseText(`${daemon}${quoted}`)).report, null);
  });

  t.test(`${name}: as a part of something else`, async t => {
    const wrapped = `From: list@remote.example\nContent-Type: multipart/mixed; boundary=outer\n\n--outer\n${report}\n--outer--\n`;
    t.equal((await parseText(wrapped)).report, null);
    const mixed = report.replaceAll('multipart/report', 'multipart/mixed');
    if (mixed !== report) t.equal((await parseText(mixed)).report, null);
    t.ok(headerOf(report));
  });
}

t.test('a daemon that tells of a delay, or of nobody, and a receipt', async t => {
  const daemon = 'From: Mail Delivery System <Mailer-Daemon@mx.remote.example>\n\n';
  const copy =
    '------ This is a copy of the message, including all the headers. ------\n\nMessage-ID: <1@example.org>\n';
  for (const text of [
    'This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue on mx.\n\n  ann@remote.example\n\n',
    'This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to anybody.\n\n',
    'Hi. This is the list manager. Your posting <ann@remote.example>: is on its way.\n\n',
    'Hi. This is the end.\n\n<ann@remote.example>:\nnobody (#5.1.1)\n\n',
  ]) {
    t.equal((await parseText(`${daemon}${text}`)).report, null);
    t.equal((await parseText(`${daemon}${text}${copy.replace('Message-ID', 'X-ID')}`)).report, null);
  }
  const receipt =
    'Content-Type: multipart/report; boundary=b; report-type=disposition-notification\n\n--b\n\nRead\n--b\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822;ann@remote.example\nOriginal-Message-ID: <1@example.org>\nDisposition: manual-action/MDN-sent-manually; displayed\n--b--\n';
  t.equal((await parseText(receipt)).report, null);
});
