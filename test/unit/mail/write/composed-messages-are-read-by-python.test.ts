import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import t from 'tap';
import type { Mailbox } from '../../../../src/domain/message-parts.js';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { skipWithout } from '../../../support/installed.js';
import { asRead, fileAsRead, goesAsItIs, inOrder, message, referencesOf } from './outgoing-messages.js';

/** The email package of Python's standard library: a reader that shares no code with ours. */
const READER = `
import base64, email, json, sys
from email import policy
from email.header import decode_header, make_header
from email.utils import getaddresses

# By hand: the way of policy.default leaves spaces between the encoded words of a name in some versions.
def mailboxes(message, name):
    raw = "".join(dict(message.raw_items()).get(name, "").splitlines())
    return [[str(make_header(decode_header(one))), address] for one, address in getaddresses([raw])]

def read(line):
    message = email.message_from_bytes(base64.b64decode(line), policy=policy.default)
    texts, files, defects = {}, [], [repr(one) for one in message.defects]
    related = set()
    for part in message.walk():
        defects += [repr(one) for one in part.defects]
        if part.get_content_type() == "multipart/related":
            related.update(id(one) for one in part.iter_parts())
        if part.is_multipart():
            continue
        disposition = part.get_content_disposition()
        if disposition is None:
            payload = part.get_payload(decode=True).decode(part.get_content_charset())
            texts[part.get_content_subtype()] = payload.replace("\\r\\n", "\\n")
        else:
            cid = part["Content-ID"]
            files.append({
                "filename": part["Content-Disposition"].params.get("filename"),
                "type": part.get_content_type(),
                "disposition": disposition,
                "contentId": None if cid is None else str(cid),
                "related": id(part) in related,
                "content": base64.b64encode(part.get_payload(decode=True)).decode(),
            })
    return {
        "subject": message["Subject"],
        "from": mailboxes(message, "From"),
        "to": mailboxes(message, "To"),
        "cc": mailboxes(message, "Cc"),
        "date": message["Date"].datetime.timestamp(),
        # As it stands: on ids that are no dot-atoms this header's own parser breaks.
        "messageId": dict(message.raw_items())["Message-ID"],
        "inReplyTo": message["In-Reply-To"],
        "references": message["References"],
        "text": texts.get("plain"),
        "html": texts.get("html"),
        "files": files,
        "fields": sorted(message.keys()),
        "defects": defects,
    }

for line in sys.stdin:
    print(json.dumps(read(line)))
`;

const hasPython = spawnSync('python3', ['-c', 'import email.policy']).status === 0;
const skip = skipWithout(hasPython ? null : 'needs python3 with its standard library');
const COUNT = 300;

async function readByPython(messages: readonly OutgoingMessage[]): Promise<unknown[]> {
  let input = '';
  for (const one of messages) input += `${(await composeMessage(one)).toString('base64')}\n`;
  const ended = spawnSync('python3', ['-c', READER], { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (ended.status !== 0) throw new Error(ended.stderr);
  return ended.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as unknown);
}

function mailboxes(list: readonly Mailbox[]): unknown {
  return list.map(({ address, name = '' }) => [name, address]);
}

function expected(sent: OutgoingMessage): unknown {
  const { replyHeaders, html, to, cc } = sent;
  return {
    subject: sent.subject.toWellFormed(),
    from: mailboxes([sent.from]),
    to: mailboxes(to),
    cc: mailboxes(cc),
    date: Math.floor(sent.date / 1000),
    messageId: `<${sent.messageId}>`,
    inReplyTo: replyHeaders?.inReplyTo ?? null,
    references: referencesOf(sent),
    text: asRead(sent.text),
    html: html === null ? null : asRead(html),
    files: inOrder(sent).map(file => ({
      ...fileAsRead(file),
      disposition: file.disposition,
      contentId: file.contentId === undefined ? null : `<${file.contentId}>`,
      related: file.isEmbedded,
      content: Buffer.from(file.bytes).toString('base64'),
    })),
    fields: fieldsOf(sent),
    defects: [],
  };
}

function fieldsOf(sent: OutgoingMessage): string[] {
  const { to, cc, replyHeaders, html, files } = sent;
  const isMultipart = html !== null || files.length > 0;
  return [
    ...['Content-Type', 'Date', 'From', 'MIME-Version', 'Message-ID', 'Subject'],
    ...(isMultipart ? [] : ['Content-Transfer-Encoding']),
    ...(to.length > 0 ? ['To'] : []),
    ...(cc.length > 0 ? ['Cc'] : []),
    ...(replyHeaders !== null ? ['In-Reply-To'] : []),
    ...(referencesOf(sent) !== null ? ['References'] : []),
  ].sort();
}

t.test('any message comes back as it was given', { skip }, async t => {
  const seed = Date.now() % 2 ** 31;
  // It walks into a message in a file, where another one begins.
  const flat = message.filter(({ files }) => !files.some(goesAsItIs));
  const messages = fc.sample(flat, { numRuns: COUNT, seed });
  const read = await readByPython(messages);
  t.equal(read.length, COUNT);
  for (const [index, sent] of messages.entries()) {
    t.strictSame(read[index], expected(sent), `message ${index} of seed ${seed}`);
  }
});
