import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { type PosternBox, startBox } from '../../support/box/postern-box.js';
import { makeCertificate } from '../../support/certificate.js';
import { skipWithout } from '../../support/installed.js';
import { sha256 } from '../../support/letters/letters.js';
import { temporaryFolder } from '../../support/redis/redis.js';

const hasPython = spawnSync('python3', ['-c', 'import smtplib, ssl, email']).status === 0;
const skip = skipWithout(hasPython ? null : 'needs python3 with its standard library');

/** A client that shares nothing with ours: Python's standard library builds the message and sends it. */
const CLIENT = `
import hashlib, json, os, smtplib, ssl, sys
from email.header import Header
from email.headerregistry import Address
from email.message import EmailMessage
from email.mime.base import MIMEBase
from email.encoders import encode_base64
from email import policy

port, recipient, uses_tls = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "tls"
message = EmailMessage(policy=policy.SMTP)
message["From"] = Address("Zoë Müller-Łukasz", "zoe", "client.example")
message["To"] = [Address("Ägent, der Erste", *recipient.split("@")), Address("", "other", "client.example")]
message["Cc"] = Address("日本語", "nihon", "client.example")
message["Subject"] = "Grüße – 漢字 and a long subject that has to be folded " * 3 + "end"
message["Message-ID"] = "<python@client.example>"
message["In-Reply-To"] = "<earlier@client.example>"
message["References"] = "<first@client.example> <earlier@client.example>"
message["Date"] = "Fri, 27 Nov 2026 10:00:00 +0100"
text = "Hallo Agent,\\n.\\n..Punkte am Anfang\\nund Umlaute: äöü ß €\\n" + "x" * 2000 + "\\n"
html = "<p>Hallo <b>Agent</b> 漢字</p><img src='cid:picture@client.example'>\\n"
message.set_content(text)
message.add_alternative(html, subtype="html")
picture = os.urandom(3000)
message.get_payload()[1].add_related(picture, "image", "png", cid="<picture@client.example>", filename="bild.png", disposition="inline")

files = [
    ("plain.bin", "application/octet-stream", os.urandom(100_001)),
    ("Übersicht für März.pdf", "application/pdf", os.urandom(5_000)),
    ("非常に長い名前" * 8 + ".txt", "text/plain", "Zeile 1\\r\\nZeile 2 äöü\\r\\n".encode("utf-8")),
    ("leer.dat", "application/octet-stream", b""),
]
for name, mime_type, content in files:
    main, sub = mime_type.split("/")
    message.add_attachment(content, main, sub, filename=name, cte="base64")
# As older programs write it: encoded words inside the quoted parameter (RFC 2047 forbids it, all do it).
old_name, old_content = "Rechnung 7 für März €.pdf", os.urandom(777)
encoded = Header(old_name, "iso-8859-15", maxlinelen=200).encode()
old = MIMEBase("application", "pdf", name=encoded)
old.set_payload(old_content)
encode_base64(old)
old["Content-Disposition"] = 'attachment; filename="%s"' % encoded
message.attach(old)
files.append((old_name, "application/pdf", old_content))

raw = message.as_bytes()
with smtplib.SMTP("127.0.0.1", port, local_hostname="client.example") as smtp:
    if uses_tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        smtp.starttls(context=context)
    smtp.ehlo()
    refused = smtp.sendmail("zoe@client.example", [recipient], raw)
digest = lambda content: hashlib.sha256(content).hexdigest()
print(json.dumps({
    "refused": refused,
    "raw": digest(raw),
    "subject": message["Subject"],
    "text": text,
    "html": html,
    "files": [[name, mime_type, len(content), digest(content)] for name, mime_type, content in
              [("bild.png", "image/png", picture)] + files],
}))
`;

interface SentByPython {
  readonly refused: object;
  readonly raw: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** File name, type, size and hash. */
  readonly files: readonly [string, string, number, string][];
}

t.test("a message of Python's standard library arrives as it was meant", { skip }, async t => {
  await sendAndRead(t, await startBox(t), 'plain');
});

t.test("Python's standard library sends over STARTTLS", { skip }, async t => {
  await sendAndRead(t, await startBox(t, { env: makeCertificate(temporaryFolder(t)) }), 'tls');
});

async function sendAndRead(t: Test, box: PosternBox, security: 'plain' | 'tls'): Promise<void> {
  const agent = await createAgent(box);
  const running = promisify(execFile)('python3', ['-', String(box.smtpPort), agent.address, security]);
  running.child.stdin?.end(CLIENT);
  const { stdout } = await running;
  const sent = JSON.parse(stdout) as SentByPython;
  t.same(sent.refused, {});
  const [summary] = await agent.api.all(agent.inboxId);
  const { content } = await agent.api.finished(summary!.id);
  t.equal(sha256(await agent.api.raw(summary!.id)), sent.raw, 'byte for byte');
  t.match(content, {
    from: { name: 'Zoë Müller-Łukasz', address: 'zoe@client.example' },
    to: [
      { name: 'Ägent, der Erste', address: agent.address },
      { name: '', address: 'other@client.example' },
    ],
    cc: [{ name: '日本語', address: 'nihon@client.example' }],
    message_id: '<python@client.example>',
    in_reply_to: '<earlier@client.example>',
    references: '<first@client.example> <earlier@client.example>',
    date: '2026-11-27T09:00:00.000Z',
  });
  t.equal(content?.subject, sent.subject);
  t.equal(content?.text?.trimEnd(), sent.text.trimEnd());
  t.equal(content?.html?.trimEnd(), sent.html.trimEnd());
  const got: unknown[] = [];
  for (const attachment of content?.attachments ?? []) {
    const bytes = await agent.api.attachment(summary!.id, attachment);
    got.push([attachment.filename, attachment.mime_type, attachment.size, sha256(bytes)]);
  }
  t.same(got, sent.files, 'names, types, sizes and bytes of the attachments');
  t.match(content?.attachments[0], {
    related: true,
    content_id: 'picture@client.example',
    disposition: 'inline',
  });
}
