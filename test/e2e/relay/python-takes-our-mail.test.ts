import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import t from 'tap';
import { attempt, CONTENT, transportTo } from '../../unit/relay/smarthost/with-smarthost.js';

/** A server that shares nothing with ours: aiosmtpd, or the module of Python's standard library (until 3.11). */
const SERVER = `
import asyncio, base64, json, sys, warnings
warnings.simplefilter("ignore")

def told(sender, recipients, content, options):
    print(json.dumps({"from": sender, "recipients": recipients, "options": options,
                      "content": base64.b64encode(content).decode()}), flush=True)

def listening(port):
    print(json.dumps({"port": port}), flush=True)

try:
    from aiosmtpd.smtp import SMTP

    class Handler:
        async def handle_DATA(self, server, session, envelope):
            told(envelope.mail_from, envelope.rcpt_tos, envelope.original_content, envelope.mail_options)
            return "250 2.0.0 kept"

    async def main():
        server = await asyncio.get_running_loop().create_server(lambda: SMTP(Handler()), "127.0.0.1", 0)
        listening(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())
except ImportError:
    import asyncore, smtpd

    class Server(smtpd.SMTPServer):
        def process_message(self, peer, sender, recipients, data, mail_options=(), rcpt_options=()):
            told(sender, recipients, data, list(mail_options))

    server = Server(("127.0.0.1", 0), None)
    listening(server.socket.getsockname()[1])
    asyncore.loop()
`;

const HAS =
  'import importlib.util as u, sys; sys.exit(not (u.find_spec("aiosmtpd") or u.find_spec("smtpd")))';
const hasServer = spawnSync('python3', ['-c', HAS]).status === 0;
const skip = !hasServer && 'needs python3 with aiosmtpd, or a Python below 3.12 with its smtpd';

interface Taken {
  readonly from: string;
  readonly recipients: readonly string[];
  readonly options: readonly string[];
  readonly content: string;
}

/** Python's module takes the line ends off and puts LF between lines; aiosmtpd keeps them. */
const plain = (content: string) => content.replaceAll('\r\n', '\n').trimEnd();

t.test("a server of Python's takes envelope and message as they are", { skip }, async t => {
  const child: ChildProcess = spawn('python3', ['-c', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value) as Taken & { port: number };
  const { port } = await next();
  const transport = transportTo(t, port);

  const contents = [
    CONTENT,
    `${CONTENT}.\r\n..\r\n\r\n.`,
    `a: b\r\n\r\n${`.${'x'.repeat(70)}\r\n`.repeat(10_000)}`,
  ];
  for (const content of contents) {
    const recipients = ['One@elsewhere.example', "o'neil+x@elsewhere.example"];
    t.match(await transport.submit(attempt({ recipients, content })), { status: 'accepted' });
    const taken = await next();
    t.match(taken, { from: 'agent@example.org', recipients });
    t.notMatch(taken.options.join(' '), /SMTPUTF8|8BIT/i);
    t.ok(plain(Buffer.from(taken.content, 'base64').toString()) === plain(content), 'the same text');
  }
});
