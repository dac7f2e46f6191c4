import t from 'tap';
import { feedbackReport, RECORDED_REPORTS } from '../../../support/letters/reports.js';
import { parseText } from './parse-text.js';

const FACTS = {
  messageId: '019bc1a2-0000-7000-8000-000000000001@example.org',
  recipient: 'Ann+notes@remote.example',
  sender: 'agent@example.org',
};

for (const recorded of RECORDED_REPORTS) {
  t.test(recorded.name, async t => {
    for (const piece of [65_536, 7]) {
      const { report } = await parseText(recorded.write(FACTS), {}, () => piece);
      t.match(report, {
        kind: recorded.kind,
        originalMessageId: FACTS.messageId,
        recipients: [
          {
            address: FACTS.recipient,
            action: recorded.action,
            status: recorded.status,
            diagnostic: recorded.said,
          },
        ],
      });
      t.equal(report?.recipients.length, 1);
    }
  });
}

t.test('each recipient of a report has what is said of it', async t => {
  const { report } = await parseText(
    reportOf(`Reporting-MTA: dns; mx.remote.example

Final-Recipient: rfc822; a@remote.example
Action: failed
Status: 5.2.2 (mailbox full)

Final-Recipient: rfc822; b@remote.example (Bob)
Action: delivered
Status: 2.0.0

Final-Recipient: x400; c=de
Action: failed
Status: 5.1.1

Final-Recipient: rfc822; c@remote.example
Status: 5.1.1

Final-Recipient: rfc822; d@remote.example
Action: failed (after 2 days)
Diagnostic-Code: smtp; 550-#5.1.1 no such user
`),
  );
  t.strictSame(report?.recipients, [
    { address: 'a@remote.example', action: 'failed', status: '5.2.2', diagnostic: null },
    { address: 'b@remote.example', action: 'delivered', status: '2.0.0', diagnostic: null },
    {
      address: 'd@remote.example',
      action: 'failed',
      status: '5.1.1',
      diagnostic: '550-#5.1.1 no such user',
    },
  ]);
});

t.test('the message is known by its returned header, else by what the report says or answers', async t => {
  const of = async (text: string) => (await parseText(text)).report?.originalMessageId;
  const fields = 'Final-Recipient: rfc822; a@remote.example\nAction: failed\nStatus: 5.1.1\n';
  t.equal(await of(reportOf(fields)), null);
  t.equal(await of(`In-Reply-To: <answered@x>\n${reportOf(fields)}`), 'answered@x');
  const told = `X-Original-Message-ID: <told@x>\n\n${fields}`;
  t.equal(await of(`In-Reply-To: <answered@x>\n${reportOf(told)}`), 'told@x');
  const header = 'Content-Type: text/rfc822-headers\n\nSubject: x\nMessage-ID:\n <returned@x>\n';
  t.equal(await of(`In-Reply-To: <answered@x>\n${reportOf(told, header)}`), 'returned@x');
  const encoded = Buffer.from('Message-ID: <encoded@x>\r\n\r\nHello').toString('base64');
  const message = `Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n${encoded}\n`;
  t.equal(await of(reportOf(told, message)), 'encoded@x');
});

t.test('what a server said is one line without controls', async t => {
  const said = 'no \x1b[31mmailbox\t\0here\x07 (#5.1.1)';
  const plain = `From: MAILER-DAEMON@x\n\nHi. This is the program\n\n<a@remote.example>:\n${said}\n${said}\n\n--- Below\n\nMessage-ID: <1@x>\n`;
  const fields = `Final-Recipient: rfc822; a@remote.example\nAction: failed\nDiagnostic-Code: smtp; ${said}\n\t${said}\n`;
  for (const text of [plain, reportOf(fields)]) {
    const [recipient] = (await parseText(text)).report?.recipients ?? [];
    t.equal(recipient?.diagnostic, Array(2).fill('no [31mmailbox here (#5.1.1)').join(' '));
    t.equal(recipient?.status, '5.1.1');
  }
});

t.test('only a complaint is an abuse report', async t => {
  for (const type of ['not-spam', 'auth-failure', 'virus', 'other', ''])
    t.equal((await parseText(feedbackReport(FACTS, type))).report, null, type);
  t.match((await parseText(feedbackReport(FACTS, 'Fraud'))).report, { kind: 'abuse' });
});

/** A report with these fields in its part for programs, and maybe another part. */
function reportOf(fields: string, ...parts: readonly string[]): string {
  const all = [`Content-Type: message/delivery-status\n\n${fields}`, ...parts];
  return `Content-Type: multipart/report; boundary=b; report-type=delivery-status\n\n--b\n\nSorry\n${all
    .map(part => `--b\n${part}\n`)
    .join('')}--b--\n`;
}
