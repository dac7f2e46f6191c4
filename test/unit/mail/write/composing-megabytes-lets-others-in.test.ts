import t from 'tap';
import { composeMessage, type OutgoingMessage } from '../../../../src/mail/write/compose-message.js';
import { turnsAtMost, turnsDuring } from '../../../support/turns.js';
import { outgoing } from './outgoing-messages.js';

const MIB = 2 ** 20;
const repeat = (piece: string, bytes: number): string =>
  piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece)));

const attached = (type: string, content: string): Partial<OutgoingMessage> => ({
  files: [{ filename: 'a', type, disposition: 'attachment', bytes: Buffer.from(content) }],
});

/** 5 MiB in forms that take longest somewhere. */
const KINDS: Readonly<Record<string, Partial<OutgoingMessage>>> = {
  'lines of text': { text: repeat('a line of text\n', 5 * MIB) },
  'text and HTML': { text: repeat('Grüße aus Köln\n', 2.5 * MIB), html: repeat('<p>漢字</p>\n', 2.5 * MIB) },
  'one line': { text: repeat('a=bcdefgh ', 5 * MIB) },
  'no space': { html: repeat('x', 5 * MIB) },
  'other scripts': { text: repeat('漢', 5 * MIB) },
  'empty lines': { text: repeat('\n', 5 * MIB) },
  'old line ends': { text: repeat('\r', 5 * MIB) },
  dots: { text: repeat('.\n', 5 * MIB) },
  blanks: { text: repeat(' ', 5 * MIB) },
  'text, HTML and a file': {
    text: repeat('a line of text\n', 2.5 * MIB),
    html: repeat('<p>Grüße</p>\n', 2.5 * MIB),
    ...attached('application/pdf', repeat('%PDF', 5 * MIB)),
  },
  'an attached message of empty lines': attached('message/rfc822', repeat('\r\n', 5 * MIB)),
  'an attached message in 8 bits': attached('message/rfc822', `${repeat('a\r\n', 5 * MIB)}ä`),
};

/** However much there is of a message, so much of it is worked on before others have a turn. */
const STEP_BYTES = 64 * 1024;

for (const [kind, changes] of Object.entries(KINDS)) {
  t.test(`${kind}: other work is done while it is composed`, async t => {
    const compose = () => composeMessage(outgoing(changes));
    const turns = await turnsAtMost(compose);
    t.ok(turns >= (5 * MIB) / STEP_BYTES, `${turns} turns`);
    let length = 0;
    const { longestMs } = await turnsDuring(async () => {
      length = (await compose()).length;
    });
    t.ok(length > 5 * MIB - 1);
    t.comment(`longest turn ${longestMs.toFixed(1)} ms`);
  });
}
