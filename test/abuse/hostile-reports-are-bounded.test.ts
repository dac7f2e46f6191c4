import t from 'tap';
import { MAX_DIAGNOSTIC_LENGTH, MAX_REPORTED } from '../../src/domain/delivery-reports.js';
import { parseMessage } from '../../src/mail/read/parse-message.js';
import { MAX_REPORT_BYTES } from '../../src/mail/read/report-parts.js';

const MIB = 2 ** 20;
const MESSAGE_BYTES = 5 * MIB;
/** What may go to the main thread of one report, as JSON. */
const MOST_TOLD = MAX_REPORTED * (MAX_DIAGNOSTIC_LENGTH + 400) + 2_000;
/** A parse of 5 MB takes well under a second; one whose time grows with the square of its size takes minutes. */
const HUNG_MS = 60_000;

async function* bytesOf(head: string, unit: string, tail: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head.replace(/\n/g, '\r\n'), 'latin1');
  const piece = Buffer.from(unit.replace(/\n/g, '\r\n').repeat(Math.ceil(65_536 / unit.length)), 'latin1');
  for (let sent = 0; sent < MESSAGE_BYTES; sent += piece.length) yield Buffer.from(piece);
  yield Buffer.from(tail.replace(/\n/g, '\r\n'), 'latin1');
}

const report = (type: string) =>
  `From: MAILER-DAEMON@x\nContent-Type: multipart/report; boundary=b\n\n--b\n\nSorry\n--b\nContent-Type: ${type}\n\n`;
const RECIPIENT = 'Final-Recipient: rfc822; a@remote.example\nAction: failed\nStatus: 5.1.1\n\n';
const plain = (text: string) => `From: MAILER-DAEMON@x\n\n${text}`;
const EXIM =
  'This message was created automatically by mail delivery software.\nA message that you sent could not be delivered to one\n\n';

const HOSTILE: Readonly<Record<string, readonly [head: string, unit: string]>> = {
  'recipients without end': [report('message/delivery-status'), RECIPIENT],
  'one line without end': [report('message/delivery-status'), 'Final-Recipient: rfc822; '],
  'one field without end': [
    `${report('message/delivery-status')}Diagnostic-Code: smtp; 550\n`,
    ' 5.1.1 nobody\n',
  ],
  'a long diagnostic for each of many': [
    report('message/delivery-status'),
    `${RECIPIENT.trimEnd()}\nDiagnostic-Code: smtp; ${'5.1.'.repeat(400)}\n\n`,
  ],
  'spaces and semicolons': [`${report('message/delivery-status')}Final-Recipient: `, ' ;'],
  brackets: [`${report('message/delivery-status')}Final-Recipient: rfc822; `, '<'],
  colons: [report('message/delivery-status'), ':\n'],
  'empty lines': [report('message/delivery-status'), '\n'],
  'many complaints': [
    `${report('message/feedback-report')}Feedback-Type: abuse\n`,
    'Original-Rcpt-To: <a@remote.example>\n',
  ],
  'a returned header of ids': [report('text/rfc822-headers'), 'Message-ID: <a@b> <c@d>\n'],
  'a returned id without end': [`${report('message/rfc822')}Message-ID: <`, 'a'],
  'many parts of programs': [
    report('message/delivery-status'),
    `${RECIPIENT}--b\nContent-Type: message/delivery-status\n\n`,
  ],
  'reports in reports': [report('message/delivery-status'), report('multipart/report; boundary=b')],
  'paragraphs of qmail': [plain('Hi. This is the program\n\n'), '<a@remote.example>:\nno (#5.1.1)\n\n'],
  'dashes of qmail': [plain('Hi. This is the program\n\n<a@remote.example>:\n'), '-'],
  'lines of Exim': [plain(EXIM), '  a@remote.example\n    550 5.1.1 no\n'],
  'dashes of Exim': [plain(`${EXIM}------ This is a copy of `), '-'],
  'lines of dashes of Exim': [plain(EXIM), '------ This is a copy of -------\n'],
  'angles of qmail': [plain('Hi. This is the program\n\n'), '<'],
};

for (const [name, [head, unit]] of Object.entries(HOSTILE)) {
  t.test(name, { timeout: HUNG_MS }, async t => {
    const tail = '\n--- Below is a copy\n\nMessage-ID: <1@example.org>\n\n--b--\n';
    const { report } = await parseMessage(bytesOf(head, unit, tail));
    t.ok((report?.recipients.length ?? 0) <= MAX_REPORTED);
    t.ok(JSON.stringify(report).length <= MOST_TOLD, `${JSON.stringify(report).length} characters`);
    for (const { address, diagnostic } of report?.recipients ?? []) {
      t.ok(address.length <= 254);
      t.ok((diagnostic?.length ?? 0) <= MAX_DIAGNOSTIC_LENGTH);
    }
  });
}

t.test('an address is never cut short by the limit: what is left of it would be another one', async t => {
  const group = 'Action: failed\r\nStatus: 5.1.1\r\nFinal-Recipient: rfc822; a@remote.example\r\n';
  const head = report('message/delivery-status').replace(/\n/g, '\r\n');
  let seen = 0;
  for (let room = 0; room <= group.length; room++) {
    // So much of the group is within the limit.
    const line = `X-Pad: ${'x'.repeat(MAX_REPORT_BYTES - room - 'X-Pad: \r\n\r\n'.length)}\r\n\r\n`;
    const bytes = Buffer.from(`${head}${line}${group}--b--\r\n`);
    const parsed = await parseMessage(whole(bytes));
    for (const { address } of parsed.report?.recipients ?? []) {
      t.equal(address, 'a@remote.example');
      seen++;
    }
  }
  t.ok(seen > 0, 'where it fits it is read');
});

async function* whole(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
