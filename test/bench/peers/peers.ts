import { existsSync } from 'node:fs';
import { dataFolder, type Mailbox } from '../appliance.js';
import { freePort, lineOf, startChild, startScript, stopChild } from '../child-process.js';
import { type PostfixOptions, PostfixPeer, postfixObstacle } from './postfix.js';
import { type Sink, untilGreeted } from './sink.js';

const SMTP_SINK = '/usr/sbin/smtp-sink';
const START_MS = 15_000;

export async function startBareSmtpServer(): Promise<Sink> {
  return scriptPeer('peers/bare-smtp-server.js');
}

export async function startHelloServer(): Promise<Sink> {
  return scriptPeer('peers/hello-server.js');
}

/** smtp-sink of Postfix; null where it is not installed. */
export async function startSmtpSink(address = '127.0.0.1', atPort?: number): Promise<Sink | null> {
  if (!existsSync(SMTP_SINK)) return null;
  const port = atPort ?? (await freePort());
  // When started by root it must be given another user.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = startChild(SMTP_SINK, [...user, `${address}:${port}`, '1000'], { stdio: 'ignore' });
  await untilGreeted(child, port, address);
  return { port, recipient: 'agent@sink.test', stop: () => stopChild(child) };
}

/** Postfix to maildir, or the reason why there is none. */
export async function startPostfix(options: PostfixOptions = {}): Promise<PostfixPeer | string> {
  const obstacle = postfixObstacle();
  if (obstacle !== null) return `${obstacle}: its rows are left out`;
  try {
    return await PostfixPeer.start(options);
  } catch (error) {
    return `Postfix could not be set up, its rows are left out: ${error instanceof Error ? error.message : error}`;
  }
}

/** A list over the store of a mailbox, beside the daemon. */
export async function startNaiveListServer({ folder, inboxId }: Mailbox): Promise<Sink> {
  return scriptPeer('peers/naive-list-server.js', { path: dataFolder(folder), inboxId });
}

async function scriptPeer(script: string, parameters: object = {}): Promise<Sink> {
  const child = startScript(script, parameters);
  const port = await lineOf(child, line => (/^\d+$/.test(line) ? Number(line) : undefined), START_MS);
  return { port, recipient: 'agent@peer.test', stop: () => stopChild(child) };
}
