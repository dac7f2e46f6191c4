import { deriveForward, type ForwardSource } from '../../../src/domain/forward.js';
import { parseStrictJson } from '../../../src/http/server/strict-json.js';
import { encodeBase64, encodeText, isTransmittable } from '../../../src/mail/write/encode-text.js';
import type { Bench } from '../bench.js';
import { compare } from '../measure/report.js';

const BODY_BYTES = 8 * 2 ** 20;
const MESSAGE_BYTES = 5 * 2 ** 20 - 4096;
const TARGET_MS = 50;

type Steps = Generator<void, unknown>;

const repeat = (piece: string, bytes: number): string =>
  piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));

const body = (head: string, piece: string, tail: string) => (): Steps =>
  parseStrictJson(Buffer.from(head + repeat(piece, BODY_BYTES - head.length - tail.length) + tail));

const longKeys = Array.from({ length: 9_990 }, (_, n) => `"${`${n}`.padStart(830, 'k')}":1`).join();

const original: ForwardSource = {
  from: null,
  to: [],
  cc: [],
  subject: 's',
  date: null,
  text: null,
  html: '',
  attachments: [],
};

const forward = (piece: string) => (): Steps =>
  deriveForward(
    { ...original, html: repeat(piece, MESSAGE_BYTES) },
    { note: null, includeAttachments: true },
  );

const composed = (piece: string) => (): Steps => encodeText(repeat(piece, MESSAGE_BYTES), 'delimiter');

const attached = (piece: string) => (): Steps => isTransmittable(Buffer.from(repeat(piece, MESSAGE_BYTES)));

const KINDS: Readonly<Record<string, () => Steps>> = {
  'body: one string': body('{"text":"', 'a', '"}'),
  'body: other scripts': body('{"text":"', '漢', '"}'),
  'body: escapes': body('{"text":"', '\\u4e00', '"}'),
  'body: escaped quotes': body('{"text":"', '\\"', '"}'),
  'body: a number': body('{"a":', '9', '}'),
  'body: ten thousand long keys': body('{', longKeys, '}'),
  'body: millions of entries': body('{"to":[', '1,', '1]}'),
  'body: equal repeats': body('{', '"a":1,', '"a":1}'),
  'forward: tags': forward('<b>'),
  'forward: paragraphs': forward('<p>a'),
  'forward: references': forward('&amp;'),
  'forward: comments': forward('<!-->'),
  'forward: open tags': forward('<a '),
  'forward: hidden elements': forward('<title></title>'),
  'compose: lines': composed('a line of text\n'),
  'compose: line ends': composed('\n'),
  'compose: other scripts': composed('漢'),
  'compose: quoted-printable': composed('a=bcdefgh '),
  'compose: dots': composed('.\n'),
  'compose: old line ends': composed('\r'),
  'compose: a file': () => encodeBase64(Buffer.alloc(MESSAGE_BYTES, 'file')),
  'compose: an attached message': attached('\r\n'),
};

/** How long do the worst inputs hold the event loop? Each is run through; no step should take long. */
export const stepsBench: Bench = {
  name: 'steps',
  title: 'longest step of work that is done in slices, in ms; the best of some runs',
  async run({ isQuick, runs }) {
    const rows: string[][] = [];
    let worst = 0;
    for (const [kind, begin] of Object.entries(KINDS)) {
      const times = Array.from({ length: isQuick ? 1 : 2 * runs }, () => longestStep(begin()));
      const longest = Math.min(...times.map(time => time.longestMs));
      const all = Math.min(...times.map(time => time.allMs));
      worst = Math.max(worst, longest);
      rows.push([kind, longest.toFixed(1), all.toFixed(0)]);
    }
    const words = { unit: ' ms', digits: 1 };
    return {
      columns: ['', 'longest step', 'all steps'],
      rows,
      notes: [],
      comparisons: [compare('longest step of the loop', worst, { atMost: TARGET_MS }, words)],
    };
  },
};

function longestStep(work: Steps): { readonly longestMs: number; readonly allMs: number } {
  const startedAt = performance.now();
  for (let longestMs = 0; ; ) {
    const stepAt = performance.now();
    const { done } = work.next();
    const endedAt = performance.now();
    longestMs = Math.max(longestMs, endedAt - stepAt);
    if (done === true) return { longestMs, allMs: endedAt - startedAt };
  }
}
