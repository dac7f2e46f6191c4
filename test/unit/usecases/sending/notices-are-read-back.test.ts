import { spawnSync } from 'node:child_process';
import t from 'tap';
import { composeNotice } from '../../../../src/usecases/sending/send-notice.js';
import { skipWithout } from '../../../support/installed.js';
import { parseBytes } from '../../mail/read/parse-text.js';
import { NOTICES, noticed, SENT } from './notices.js';

const DEPS = { clock: () => Date.UTC(2026, 0, 15, 12, 1), hostname: 'mail.example.org' };

/** The email package of Python's standard library: a reader that shares no code with ours. */
const READER = `
import base64, email, json, sys
from email import policy
from email.header import decode_header, make_header

# By hand: policy.default loses characters of an encoded word that begins with one that is escaped.
def subject(message):
    raw = "".join(dict(message.raw_items()).get("Subject", "").splitlines())
    return str(make_header(decode_header(raw)))

def read(line):
    message = email.message_from_bytes(base64.b64decode(line), policy=policy.default)
    text, status, original = message.iter_parts()
    groups = [[[name, " ".join(str(value).split())] for name, value in group.raw_items()] for group in status.get_payload()]
    header = email.message_from_string(original.get_content(), policy=policy.default)
    return {
        "type": [message.get_content_type(), message["Content-Type"].params["report-type"]],
        "parts": [[part.get_content_type(), part.get_content_disposition()] for part in (text, status, original)],
        "from": str(message["From"]),
        "to": str(message["To"]),
        "autoSubmitted": str(message["Auto-Submitted"]),
        "inReplyTo": message["In-Reply-To"],
        "references": message["References"],
        "subject": subject(message),
        "text": text.get_content(),
        "groups": groups,
        "original": {name: str(header[name]) for name in header.keys()} | {"Subject": subject(header)},
        "defects": [repr(one) for part in message.walk() for one in part.defects] + [repr(one) for one in header.defects],
    }

for line in sys.stdin:
    print(json.dumps(read(line)))
`;

interface Read {
  readonly type: readonly string[];
  readonly parts: readonly (readonly string[])[];
  readonly text: string;
  readonly groups: readonly (readonly (readonly [string, string])[])[];
  readonly original: Readonly<Record<string, string>>;
  readonly defects: readonly string[];
  readonly [name: string]: unknown;
}

const hasPython = spawnSync('python3', ['-c', 'import email.policy']).status === 0;
const skip = skipWithout(hasPython ? null : 'needs python3 with its standard library');

t.test('by the email package of Python', { skip }, async t => {
  let input = '';
  for (const notice of NOTICES) input += `${(await composeNotice(DEPS, notice)).toString('base64')}\n`;
  const ended = spawnSync('python3', ['-c', READER], { input, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (ended.status !== 0) throw new Error(ended.stderr);
  const all = ended.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Read);
  t.equal(all.length, NOTICES.length);
  for (const [index, read] of all.entries()) {
    const { record, recipients } = NOTICES[index]!;
    t.strictSame(read.defects, [], `notice ${index}`);
    t.strictSame(read.type, ['multipart/report', 'delivery-status']);
    t.strictSame(read.parts, [
      ['text/plain', null],
      ['message/delivery-status', 'inline'],
      ['text/rfc822-headers', 'inline'],
    ]);
    t.match(read, {
      from: 'Mail Delivery System <postmaster@example.org>',
      to: 'agent@example.org',
      autoSubmitted: 'auto-replied',
      inReplyTo: `<${record.messageId}>`,
    });
    t.ok(String(read.references).endsWith(`<${record.messageId}>`));
    t.ok(String(read.subject).endsWith(record.subject), String(read.subject));
    const [ofMessage, ...groups] = read.groups.map(group => Object.fromEntries(group));
    t.match(ofMessage, { 'Reporting-MTA': 'dns; mail.example.org', 'Arrival-Date': /^Thu, 15 Jan 2026/ });
    t.equal(groups.length, recipients.length);
    for (const [n, group] of groups.entries()) {
      const isDelay = recipients[n]!.state === 'queued';
      t.match(group, {
        'Final-Recipient': `rfc822; ${recipients[n]!.address}`,
        Action: isDelay ? 'delayed' : 'failed',
        Status: /^[45]\.\d+\.\d+$/,
        'Diagnostic-Code': /^(?:smtp|x-postern); [ -~]+$/,
      });
      t.equal('Will-Retry-Until' in group, isDelay);
      t.ok(read.text.includes(recipients[n]!.address));
    }
    t.equal(read.original['Message-ID'], `<${record.messageId}>`);
    t.equal(read.original.Subject, record.subject);
    t.notOk(Object.keys(read.original).some(name => /^(?:Content-|MIME)/i.test(name)));
  }
});

t.test('by our own parser, as reports', async t => {
  for (const [index, notice] of NOTICES.entries()) {
    const { report, content } = await parseBytes(await composeNotice(DEPS, notice));
    t.match(report, { kind: 'dsn', originalMessageId: notice.record.messageId });
    t.strictSame(
      report?.recipients.map(({ address, action }) => [address, action]),
      notice.recipients.map(({ address, state }) => [address, state === 'queued' ? 'delayed' : 'failed']),
      `notice ${index}`,
    );
    t.match(content, { html: null, attachments: { length: 2 } });
  }
});

t.test('any relay passes them on as they are', async t => {
  for (const notice of NOTICES) {
    const bytes = await composeNotice(DEPS, notice);
    const text = bytes.toString('latin1');
    t.match(text, /^[\t\r\n -~]*$/, '7-bit');
    t.notMatch(text, /[^\r]\n|\r[^\n]/, 'CRLF alone');
    t.ok(text.split('\r\n').every(line => line.length <= 998));
    t.ok(bytes.length < 128 * 1024, `${bytes.length} bytes`);
    t.notOk(/^(?:X: y|next)/m.test(text), 'no value begins a line');
  }
});

t.test('it says in plain words what happened, and what to do', async t => {
  const retryUntil = Date.UTC(2026, 0, 17, 12);
  const read = async (...recipients: ReturnType<typeof noticed>[]) => {
    const notice = { record: SENT, recipients, retryUntil };
    const { content } = await parseBytes(await composeNotice(DEPS, notice));
    return { subject: content.subject, text: content.text?.replace(/\s+/g, ' ') };
  };
  const failed = await read(noticed());
  t.equal(failed.subject, 'Not delivered: Notes');
  t.match(failed.text, /did not reach the recipient below, and it is not tried any more/);
  t.match(failed.text, /There is no such address \(5\.1\.1\)/);
  t.match(failed.text, /postern suppression remove ann@remote\.example --account EMAIL/);
  t.match(failed.text, /mx\.remote\.example said: 550 5\.1\.1 <ann@remote\.example>/);
  const own = await read(noticed({ host: null, reply: 'there is no such inbox' }));
  t.match(own.text, /There is no such inbox here \(5\.1\.1\)/);
  t.notMatch(own.text, /90 days|suppression/);
  const unknown = await read(noticed({ state: 'unknown', reply: 'the connection was lost' }));
  t.equal(unknown.subject, 'Delivery uncertain: Notes');
  t.match(unknown.text, /may have reached the recipient below, or may not/);
  t.match(unknown.text, /not sent again by itself/);
  t.match(unknown.text, /What happened at mx\.remote\.example: the connection was lost/);
  t.match(unknown.text, new RegExp(`For the operator: postern queue retry ${SENT.id} --even-if-delivered`));
  const delayed = await read(noticed({ state: 'queued', code: '4.4.1' }));
  t.equal(delayed.subject, 'Not delivered yet: Notes');
  t.match(
    delayed.text,
    /tried again by itself until Sat, 17 Jan 2026 12:00:00 \+0000; there is nothing to do/,
  );
  t.notMatch(delayed.text, /--even-if-delivered|no such address/);
  const both = await read(noticed({ state: 'unknown', address: 'bob@remote.example' }), noticed());
  t.equal(both.subject, 'Not delivered: Notes');
  t.match(both.text, /did not reach .* ann@remote\.example .* may have reached .* bob@remote\.example/);
});
