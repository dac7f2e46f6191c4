import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import t from 'tap';
import type { ReceivedContent } from '../../../src/contract/messages.js';
import { createAgent, type TestAgent } from '../../support/box/agents.js';
import { skipWithout } from '../../support/installed.js';
import { sha256 } from '../../support/letters/letters.js';
import { answer, submissionOf } from '../../support/sending/correspondence.js';
import { createDraft, sendDraft } from '../../support/sending/drafts.js';
import { type Receipt, send } from '../../support/sending/sending.js';
import { startSmarthostBox } from '../../support/smarthost/smarthost-box.js';

const hasPython = spawnSync('python3', ['-c', 'import smtplib, email']).status === 0;
const skip = skipWithout(hasPython ? null : 'needs python3 with its standard library');

/**
 * The other side: Python's own mail library. It is given what the agent's last message was on the wire, says what
 * it makes of it, and answers by SMTP as mail programs do.
 */
const CORRESPONDENT = `
import base64, hashlib, json, re, smtplib, sys
from email import message_from_bytes
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, default
from email.utils import make_msgid, parsedate_to_datetime

order = json.loads(sys.stdin.read())
digest = lambda content: hashlib.sha256(content).hexdigest()
ids = lambda text: re.findall(r"<[^<>]+>", str(text or ""))
said = None
before = None
if order["wire"] is not None:
    before = message_from_bytes(base64.b64decode(order["wire"]), policy=default)
    body = before.get_body(("plain",))
    html = before.get_body(("html",))
    said = {
        "defects": [repr(defect) for part in before.walk() for defect in part.defects],
        "from": [[one.display_name, one.addr_spec] for one in before["From"].addresses],
        "to": [[one.display_name, one.addr_spec] for one in before["To"].addresses],
        "cc": [[one.display_name, one.addr_spec] for one in (before["Cc"].addresses if before["Cc"] else [])],
        "bcc": before["Bcc"],
        "subject": before["Subject"],
        "message_id": ids(before["Message-ID"]),
        "in_reply_to": ids(before["In-Reply-To"]),
        "references": ids(before["References"]),
        "date": parsedate_to_datetime(before["Date"]).timestamp(),
        "text": body.get_content().replace("\\r\\n", "\\n"),
        "html": html.get_content() if html else None,
        "files": [[part.get_filename(), part.get_content_type(), digest(part.get_payload(decode=True))]
                  for part in before.iter_attachments()],
    }

message = EmailMessage(policy=SMTP)
message["From"] = Address("Zoë Müller", "zoe", "far.example")
message["To"] = Address("Agent", *order["recipient"].split("@"))
message["Cc"] = Address("Bob Jones", "bob", "far.example")
message["Message-ID"] = make_msgid(domain="far.example")
message["Date"] = "Fri, 27 Nov 2026 1%d:00:00 +0100" % order["round"]
text = "Runde %d: Grüße 漢字\\n.\\nEnde\\n" % order["round"]
if before is None:
    message["Subject"] = "Pläne für morgen"
else:
    subject = str(before["Subject"])
    message["Subject"] = subject if subject.lower().startswith("re:") else "Re: " + subject
    message["In-Reply-To"] = before["Message-ID"]
    message["References"] = " ".join((said["references"] or said["in_reply_to"]) + said["message_id"])
    text += "\\n".join("> " + line for line in said["text"].splitlines()) + "\\n"
message.set_content(text)
message.add_alternative("<p>%s</p>" % text.replace(">", "&gt;"), subtype="html")
with smtplib.SMTP("127.0.0.1", order["port"], local_hostname="far.example") as smtp:
    refused = smtp.send_message(message, "zoe@far.example", [order["recipient"]])
print(json.dumps({
    "said": said,
    "refused": refused,
    "subject": str(message["Subject"]),
    "message_id": str(message["Message-ID"]),
    "references": ids(message["References"]),
    "text": text,
}))
`;

/** What Python made of a message of the agent. */
interface Said {
  readonly defects: readonly string[];
  readonly from: readonly (readonly [string, string])[];
  readonly to: readonly (readonly [string, string])[];
  readonly cc: readonly (readonly [string, string])[];
  readonly bcc: string | null;
  readonly subject: string;
  readonly message_id: readonly string[];
  readonly in_reply_to: readonly string[];
  readonly references: readonly string[];
  readonly date: number;
  readonly text: string;
  readonly html: string | null;
  readonly files: readonly (readonly [string, string, string])[];
}

/** A message of Python, and what it had made of the one before. */
interface Turn {
  readonly said: Said | null;
  readonly refused: object;
  readonly subject: string;
  readonly message_id: string;
  readonly references: readonly string[];
  readonly text: string;
}

async function correspond(order: {
  readonly port: number;
  readonly recipient: string;
  readonly round: number;
  /** The message that is answered, in base64; null to begin. */
  readonly wire: string | null;
}): Promise<Turn> {
  const running = promisify(execFile)('python3', ['-c', CORRESPONDENT]);
  running.child.stdin?.end(JSON.stringify(order));
  return JSON.parse((await running).stdout) as Turn;
}

/** The ways in which an agent can answer, one a round. */
type Way = (agent: TestAgent, received: string, text: string) => Promise<Receipt>;

const FILE = {
  filename: 'Übersicht.txt',
  type: 'text/plain',
  content: Buffer.from('Grüße').toString('base64'),
};

const WAYS: readonly Way[] = [
  (agent, message_id, text) => answer(agent, 'reply', { message_id, text }),
  (agent, message_id, text) =>
    answer(agent, 'reply-all', { message_id, text, html: `<p>${text}</p>`, attachments: [FILE] }),
  async (agent, message_id, text) => {
    const draft = await createDraft(agent, {
      source: { action: 'reply', message_id },
      text,
      attachments: [FILE],
    });
    return sendDraft(agent, draft.id);
  },
  (agent, in_reply_to, text) =>
    send(agent, {
      to: [{ address: 'zoe@far.example', name: 'Zoë Müller' }],
      subject: 'Re: Pläne für morgen',
      text,
      in_reply_to,
    }),
  (agent, message_id, text) => answer(agent, 'reply', { message_id, text }),
];

/** Every message of a conversation has the thread id of the first. */
function isOneThread(t: Test, threads: readonly (string | null)[]): void {
  const isOne = threads.every(id => id !== null) && new Set(threads).size === 1;
  t.ok(isOne, `one conversation for the agent: ${threads.map(id => id ?? 'none').join(', ')}`);
}

t.test("a conversation with Python's mail library stays one, round after round", { skip }, async t => {
  const { box, smarthost } = await startSmarthostBox(t);
  const agent = await createAgent(box);
  await agent.api.patch(`/v1/inboxes/${agent.inboxId}`, { sender_name: 'Agent Ünal, Ltd.' });
  /** Message-IDs in the order of the conversation. */
  const ids: string[] = [];
  const threads: (string | null)[] = [];
  const order = { port: box.smtpPort, recipient: agent.address };
  let turn = await correspond({ ...order, round: 0, wire: null });
  for (const [round, way] of WAYS.entries()) {
    await t.test(`round ${round}`, async t => {
      const { id, content, thread_id } = await received(agent, turn.message_id);
      threads.push(thread_id);
      t.same(turn.refused, {});
      t.match(content, {
        from: { name: 'Zoë Müller', address: 'zoe@far.example' },
        cc: [{ name: 'Bob Jones', address: 'bob@far.example' }],
        subject: round === 0 ? 'Pläne für morgen' : 'Re: Pläne für morgen',
        in_reply_to: ids.at(-1) ?? null,
        references: ids.length === 0 ? null : ids.join(' '),
      });
      t.equal(content.text?.trimEnd(), turn.text.trimEnd());
      ids.push(turn.message_id);

      const text = `Antwort ${round} für <Zoë> & Bob\n.\n..zwei Punkte am Anfang\n`;
      const receipt = await way(agent, id, text);
      t.match(receipt, { message: { status: 'accepted', in_reply_to: id } });
      threads.push(receipt.message.thread_id);
      const wire = smarthost.submissions.at(-1);
      if (wire === undefined) throw new Error('nothing went out');
      turn = await correspond({ ...order, round: round + 1, wire: wire.content.toString('base64') });
      const { said } = turn;
      if (said === null) throw new Error('nothing was read');
      const saved = await submissionOf(agent, receipt.message.id);
      const pairs = (list: typeof saved.to) => list.map(({ name = '', address }) => [name, address]);
      t.same(said.defects, [], 'nothing to find fault with');
      t.same(said.from, [['Agent Ünal, Ltd.', agent.address]]);
      t.same([said.to, said.cc, said.bcc], [pairs(saved.to), pairs(saved.cc), null]);
      t.same(said.to[0], ['Zoë Müller', 'zoe@far.example']);
      t.equal(said.subject, 'Re: Pläne für morgen');
      t.same(said.message_id, [receipt.message.provider_message_id]);
      t.same(said.in_reply_to, [ids.at(-1)], 'it answers the last one');
      t.same(said.references, ids, 'and mentions all of them, oldest first');
      t.equal(said.date, Math.floor(Date.parse(receipt.message.created_at) / 1000));
      t.equal(said.text.trimEnd(), `${text}\nSent via Postern`);
      t.equal(said.html === null, saved.html === undefined);
      t.same(
        said.files,
        saved.attachments.map(file => [
          file.filename,
          file.type,
          sha256(Buffer.from(file.content, 'base64')),
        ]),
      );
      ids.push(receipt.message.provider_message_id ?? '');
    });
  }
  t.same(turn.references, ids, 'for the other side it is one conversation');
  t.equal(new Set(ids).size, 2 * WAYS.length);
  isOneThread(t, threads);
  t.equal(new Set(threads.filter((_, at) => at % 2 === 1)).size, 1, 'and one for all that the agent sent');
  t.match(await box.cliJson('verify'), { sound: true });
});

/** The message with this Message-ID, once it is ready. */
async function received(
  agent: TestAgent,
  messageId: string,
): Promise<{ readonly id: string; readonly thread_id: string | null; readonly content: ReceivedContent }> {
  for (;;) {
    for (const { id } of await agent.api.all(agent.inboxId)) {
      const { message_id, thread_id, content } = await agent.api.finished(id);
      if (message_id === messageId && content !== undefined) return { id, thread_id, content };
    }
    await new Promise(resolve => setTimeout(resolve, 15));
  }
}
