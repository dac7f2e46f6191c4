import { mutate } from './mutate.js';
import type { Random } from './random.js';

/** The steps of a client of the fuzzer. */
export type Step =
  | { readonly do: 'write'; readonly bytes: Buffer }
  /** Waits a moment for the server to send something. */
  | { readonly do: 'listen' }
  /** A TLS handshake on the socket, if the server has just said 220 to STARTTLS. */
  | { readonly do: 'handshake' };

/** How the client leaves: in order and reading on, in the middle of something, or not at all. */
export type Leaving = 'fin' | 'vanish' | 'rst' | 'stay';

export interface Script {
  readonly steps: readonly Step[];
  readonly leaving: Leaving;
}

const TOKENS = [
  '\r',
  '\n',
  '\r\n',
  '.',
  '\r\n.\r\n',
  '\n.\n',
  '\r\n.\n',
  '\r.\r',
  '.\r\n',
  '..\r\n',
  '\0',
  '\t',
  ' ',
  '<',
  '>',
  '@',
  '"',
  '\\',
  ':',
  '%',
  '\x7f',
  '\xff',
  '\xc3\xa9',
  'DATA\r\n',
  'RSET\r\n',
  'QUIT\r\n',
  'STARTTLS\r\n',
  'NOOP\r\n',
  'EHLO x\r\n',
  'MAIL FROM:<>\r\n',
  'SIZE=',
  'BODY=',
  'SMTPUTF8',
  'x'.repeat(300),
  'Received: x\r\n',
  '\x16\x03\x01',
];

/** Mostly the usual value, sometimes one of the odd ones. */
function mostly(usual: string, odd: readonly string[], random: Random): string {
  return random.oneIn(8) ? random.pick(odd) : usual;
}

function helloLine(random: Random): string {
  const names = ['[127.0.0.1]', 'x', 'm\u00fcnchen.example', '', 'two words', 'y'.repeat(400)];
  return `${mostly('EHLO', ['HELO', 'ehlo', 'LHLO'], random)} ${mostly('c.example', names, random)}`;
}

function mailLine(random: Random): string {
  const paths = ['', '"q q"@b.example', '@h.example:a@b.example', 'a@[::1]', 'a'];
  const parameters = [' SIZE=100', ' SIZE=999999999999', ' BODY=8BITMIME', ' SMTPUTF8', ' X=Y'];
  return `MAIL FROM:<${mostly('a@b.example', paths, random)}>${mostly('', parameters, random)}`;
}

function rcptLine(random: Random, known: string): string {
  const [local = '', domain = ''] = known.split('@');
  const paths = [
    known.toUpperCase(),
    `${local}+tag@${domain}`,
    `"${local}"@${domain}`,
    `@h.example:${known}`,
    'nobody@example.net',
    `${local}%x@${domain}`,
    '',
  ];
  return `RCPT TO:<${mostly(known, paths, random)}>`;
}

function otherLine(random: Random): string {
  return random.pick([
    'RSET',
    'NOOP',
    'NOOP x',
    'VRFY a',
    'EXPN a',
    'HELP',
    'QUIT',
    'STARTTLS',
    'STARTTLS x',
    'AUTH PLAIN AAAA',
    'BDAT 3 LAST',
    'XCLIENT ADDR=1.2.3.4',
    'GET / HTTP/1.1',
    '',
    'z'.repeat(2100),
    'DATA',
  ]);
}

function body(random: Random): string {
  const lines = random.oneIn(40) ? 3000 + random.below(6000) : random.below(12);
  let text = `Subject: ${random.below(1e9)}\r\n`;
  if (random.oneIn(15)) text += 'Received: from a by b\r\n'.repeat(95 + random.below(12));
  text += '\r\n';
  for (let n = 0; n < lines; n++) {
    text += `${random.pick(['', '..', '..x', 'line', 'w'.repeat(70), 'v'.repeat(1200), '\u00e4\u00f6'])}\r\n`;
  }
  return text;
}

/** A session that roughly follows the grammar, in segments that ignore line ends, mutated or not. */
export function writeScript(random: Random, known: string): Script {
  const parts: (string | Step)[] = [`${helloLine(random)}\r\n`];
  const isPipelined = random.oneIn(2);
  const say = (line: string) => {
    parts.push(`${line}\r\n`);
    if (!isPipelined || line === 'DATA') parts.push({ do: 'listen' });
  };
  for (let transactions = 1 + random.below(3); transactions > 0; transactions--) {
    if (random.oneIn(4)) say(otherLine(random));
    if (random.oneIn(12)) {
      say('STARTTLS');
      parts.push({ do: 'listen' }, { do: 'handshake' });
      say(helloLine(random));
    }
    say(mailLine(random));
    for (let recipients = 1 + random.below(3); recipients > 0; recipients--) say(rcptLine(random, known));
    if (random.oneIn(10)) continue;
    say('DATA');
    parts.push(body(random));
    if (!random.oneIn(12)) parts.push('.\r\n');
  }
  if (random.oneIn(2)) say('QUIT');
  const isMutated = !random.oneIn(4);
  const steps = parts.flatMap((part): Step[] => {
    if (typeof part !== 'string') return random.oneIn(8) ? [] : [part];
    const bytes = Buffer.from(part, 'utf8');
    return segments(isMutated && random.oneIn(6) ? mutate(bytes, random, TOKENS) : bytes, random);
  });
  if (random.oneIn(10)) steps.push({ do: 'write', bytes: random.bytes(random.below(3000)) });
  const leaving: Leaving = random.pick([
    'fin',
    'fin',
    'fin',
    'vanish',
    'rst',
    random.oneIn(4) ? 'stay' : 'fin',
  ]);
  return { steps: random.oneIn(6) ? steps.slice(0, random.below(steps.length + 1)) : steps, leaving };
}

function segments(bytes: Buffer, random: Random): Step[] {
  const steps: Step[] = [];
  let at = 0;
  for (let cuts = random.oneIn(3) ? random.below(5) : 0; cuts > 0 && at < bytes.length; cuts--) {
    const to = at + 1 + random.below(bytes.length - at);
    steps.push({ do: 'write', bytes: bytes.subarray(at, to) });
    at = to;
  }
  if (at < bytes.length) steps.push({ do: 'write', bytes: bytes.subarray(at) });
  return steps;
}
