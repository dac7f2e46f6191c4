import type { OutgoingMessage } from '../../../src/mail/write/compose-message.js';
import { Random } from '../../fuzz/random.js';
import { html, prose } from './parse-corpus.js';
import type { Order } from './run-engine.js';

/** Kinds of message that are composed, each measured alone. */
export const OUTGOING = [
  '2 KB text',
  '2 KB text of ASCII',
  '20 KB text and HTML',
  '2 KB text and a file of 1 MiB',
] as const;
export type Outgoing = (typeof OUTGOING)[number];

export type ComposerName = 'composeMessage' | 'nodemailer';

/** The order for an engine. */
export interface ComposeOrder extends Order {
  readonly kind: Outgoing;
}

const KIB = 1024;

/** The message of a kind, the same in every process. */
export function outgoingMessage(kind: Outgoing): OutgoingMessage {
  const random = new Random(OUTGOING.indexOf(kind) + 1);
  const text = prose(random, 2 * KIB);
  const plain: OutgoingMessage = {
    id: '0190a3a0-0000-7000-8000-000000000001',
    messageId: '0190a3a0-0000-7000-8000-000000000001@bench.example',
    date: Date.UTC(2026, 0, 1),
    from: { address: 'agent@bench.example', name: 'Jörg, the Agent' },
    to: [{ address: 'ann@client.example', name: 'Ann' }, { address: 'bob@client.example' }],
    cc: [],
    subject: 'Bericht für das Quartal',
    text,
    html: null,
    replyHeaders: null,
    mentionsItself: false,
    files: [],
  };
  if (kind === '2 KB text of ASCII') return { ...plain, text: text.replace(/[^\n -~]/g, '') };
  if (kind === '20 KB text and HTML') return { ...plain, html: html(random, 18 * KIB) };
  if (kind === '2 KB text') return plain;
  const file = { filename: 'report.pdf', type: 'application/pdf', disposition: 'attachment' } as const;
  return { ...plain, files: [{ ...file, bytes: random.bytes(KIB * KIB) }] };
}
