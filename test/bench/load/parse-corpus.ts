import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../fuzz/random.js';
import { casesFolder } from '../../support/letters/mime-cases.js';
import type { Order } from './run-engine.js';

/** Kinds of message that are parsed, each measured alone. */
export const CORPORA = [
  '4 KB text',
  '4 KB alternative, quoted-printable',
  '75 KB with a PDF in base64',
  '75 KB HTML',
  'recorded MIME cases',
] as const;
export type Corpus = (typeof CORPORA)[number];

/**
 * `one worker`: through the pool and one of its threads, as the daemon parses. `parseMessage`: the parser alone,
 * on the main thread, as mailparser is measured.
 */
export type EngineName = 'one worker' | 'parseMessage' | 'mailparser';

/** What an engine is asked to parse. */
export interface ParseOrder extends Order {
  readonly corpus: Corpus;
}

const KIB = 1024;
/** Larger recorded cases are left to other benches. */
const CASE_BYTES = 100 * KIB;
const WORDS =
  'agent mail report invoice please find attached the figures for this quarter and let me know when you can';

/** The messages of a corpus, the same in every process; empty when the recorded cases are not available. */
export function buildCorpus(corpus: Corpus): readonly Buffer[] {
  if (corpus === 'recorded MIME cases') return recordedCases();
  const random = new Random(CORPORA.indexOf(corpus) + 1);
  // Several different ones, so that no engine gains from seeing the same bytes again.
  return Array.from({ length: 8 }, (_, index) => Buffer.from(MESSAGES[corpus](random, index), 'utf8'));
}

type Write = (random: Random, index: number) => string;

const MESSAGES: Readonly<Record<Exclude<Corpus, 'recorded MIME cases'>, Write>> = {
  '4 KB text': (random, index) =>
    `${head(index)}Content-Type: text/plain; charset=utf-8\r\n\r\n${prose(random, 3_500)}`,
  '4 KB alternative, quoted-printable': (random, index) => {
    const type = (subtype: string): string =>
      `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable`;
    return `${head(index)}${multipart('alternative', [
      `${type('plain')}\r\n\r\n${quotedPrintable(prose(random, 1_100))}`,
      `${type('html')}\r\n\r\n${quotedPrintable(html(random, 1_500))}`,
    ])}`;
  },
  '75 KB with a PDF in base64': (random, index) =>
    `${head(index)}${multipart('mixed', [
      `Content-Type: text/plain; charset=utf-8\r\n\r\n${prose(random, 600)}`,
      [
        'Content-Type: application/pdf; name="report.pdf"',
        'Content-Disposition: attachment; filename="report.pdf"',
        'Content-Transfer-Encoding: base64',
        '',
        base64(random.bytes(53 * KIB)),
      ].join('\r\n'),
    ])}`,
  '75 KB HTML': (random, index) =>
    `${head(index)}Content-Type: text/html; charset=utf-8\r\n\r\n${html(random, 74 * KIB)}`,
};

function head(index: number): string {
  return [
    'Received: from mx.client.example (mx.client.example [192.0.2.1]) by mail.bench.example with ESMTPS;',
    '\tMon, 01 Sep 2025 10:00:01 +0000',
    'DKIM-Signature: v=1; a=rsa-sha256; d=client.example; s=s1; h=from:to:subject:date;',
    `\tbh=${'0'.repeat(43)}=; b=${'A'.repeat(60)}`,
    `\t${'B'.repeat(70)}=`,
    'From: =?utf-8?Q?J=C3=B6rg_Sender?= <joerg@client.example>',
    'To: "Agent, the" <agent@bench.example>, Other <other@client.example>',
    `Subject: =?utf-8?B?${Buffer.from(`Bericht für das Quartal ${index}`).toString('base64')}?=`,
    'Date: Mon, 01 Sep 2025 10:00:00 +0000',
    `Message-ID: <${index}.1756720800@client.example>`,
    'In-Reply-To: <0.1756720000@client.example>',
    'References: <00.1756710000@client.example> <0.1756720000@client.example>',
    'MIME-Version: 1.0',
    '',
  ].join('\r\n');
}

function multipart(subtype: string, parts: readonly string[]): string {
  const boundary = `----=_bench_${subtype}`;
  const body = parts.map(part => `--${boundary}\r\n${part}\r\n`).join('');
  return `Content-Type: multipart/${subtype}; boundary="${boundary}"\r\n\r\n${body}--${boundary}--\r\n`;
}

/** Lines of words, with a character outside of ASCII here and there. */
export function prose(random: Random, bytes: number): string {
  const words = WORDS.split(' ');
  let text = '';
  while (text.length < bytes) {
    const line = Array.from({ length: 11 }, () => random.pick(words));
    text += `${line.join(' ')}${random.oneIn(4) ? ' – größer' : ''}\r\n`;
  }
  return text;
}

export function html(random: Random, bytes: number): string {
  let rows = '';
  while (rows.length < bytes) {
    const text = prose(random, 100).trimEnd();
    rows += `<tr style="color:#333"><td class="cell">${text}</td><td><a href="https://client.example/${random.below(1e6)}">more</a></td></tr>\r\n`;
  }
  return `<html><head><title>Bericht</title></head><body><table>\r\n${rows}</table></body></html>\r\n`;
}

/** Quoted-printable with soft line breaks (RFC 2045 section 6.7). */
function quotedPrintable(text: string): string {
  return text.split('\r\n').map(quoteLine).join('\r\n');
}

function quoteLine(line: string): string {
  let quoted = '';
  let column = 0;
  for (const byte of Buffer.from(line)) {
    const isPlain = byte !== 0x3d && byte <= 0x7e;
    const piece = isPlain ? String.fromCharCode(byte) : `=${byte.toString(16).toUpperCase()}`;
    if (column + piece.length > 75) {
      quoted += '=\r\n';
      column = 0;
    }
    quoted += piece;
    column += piece.length;
  }
  return quoted;
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
}

function recordedCases(): readonly Buffer[] {
  const folder = casesFolder();
  if (folder === null) return [];
  const cases = join(folder, 'mime');
  return readdirSync(cases)
    .filter(name => name.endsWith('.eml'))
    .sort()
    .map(name => readFileSync(join(cases, name)))
    .filter(raw => raw.length <= CASE_BYTES);
}
