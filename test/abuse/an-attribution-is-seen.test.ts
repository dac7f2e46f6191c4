import type { Page } from 'playwright-core';
import t from 'tap';
import { attributeHtml } from '../../src/domain/text.js';
import { atOnce } from '../support/at-once.js';
import { chromiumPath, NO_CHROMIUM, openProfile, theBrowser } from '../support/signup/chromium.js';

const shown = (html: string, line: string): string => atOnce(attributeHtml(html, line));

const LINE = 'Sent via Postern';

/** What an agent might end its HTML with, to have the line swallowed by a browser. */
const ENDS = [
  '',
  '<!--',
  '<!-- --',
  '<!-- </body> --!',
  '<!--><!-',
  '<script>',
  '<script>"',
  '<script></script\u00a0>',
  '<script></script\u000b>',
  '<script><!--<script></script>',
  '<script><!--<script>',
  '<script><!--<script></script',
  '<script src=x',
  '<script src="x',
  '<script/',
  '<style>',
  '<style></styl',
  "<style title='",
  '<textarea>',
  '<textarea><!--',
  '</body><textarea></body>',
  '<title>',
  '<title></title',
  '<xmp>',
  '<iframe>',
  '<noembed>',
  '<noframes>',
  '<noscript>',
  '<noscript><!--</noscript>',
  '<select>',
  '<select><option>',
  '<select></p ',
  '<select></body>',
  '<template>',
  '<template><template></template>',
  '<object>',
  '<video><object></video>',
  '<audio>',
  '<canvas>',
  '<svg>',
  '<svg><g>',
  '<math>',
  '<datalist>',
  '<details>',
  '<dialog>',
  '<meter>',
  '<a title="',
  "<a title='</body>",
  '<a title=',
  '<a title',
  '<a title="x"',
  '<a ="><!-- "></a>',
  '<a href=\u00a0"><!-- "></a>',
  '<a',
  '<',
  '</',
  '</p',
  '</p title="',
  '<!',
  '<!DOCTYPE html "',
  '<?php "',
  '<![CDATA[',
  '<plaintext>',
  '<plaintext title="',
  '<table>',
  '<table><tr>',
  '<p',
  '<button>',
];

const skip = chromiumPath === null ? NO_CHROMIUM : false;

const SURROUNDINGS = [
  ['<!DOCTYPE html><html><head><title>x</title></head><body><p>Hello</p>', ''],
  ['<body><p>Hello</p>', '</body></html>'],
] as const;

const SANDBOXES = ['allow-same-origin', 'allow-same-origin allow-scripts'] as const;

/**
 * In the page: shows each HTML in a frame, and tells of which the line takes no room on the screen. Frames in a sandbox
 * run no scripts, as mail programs do not, and read HTML accordingly.
 */
const HIDDEN_IN = `async ({ htmls, line, sandbox }) => {
  const isHidden = async html => {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', sandbox);
    const loaded = new Promise(resolve => frame.addEventListener('load', resolve));
    frame.srcdoc = html;
    document.body.append(frame);
    await loaded;
    const inner = frame.contentDocument;
    const texts = inner.createTreeWalker(inner, NodeFilter.SHOW_TEXT);
    let isSeen = false;
    while (texts.nextNode()) {
      const at = texts.currentNode.data.indexOf(line);
      if (at < 0) continue;
      const range = inner.createRange();
      range.setStart(texts.currentNode, at);
      range.setEnd(texts.currentNode, at + line.length);
      isSeen ||= [...range.getClientRects()].some(({ width, height }) => width > 0 && height > 0);
    }
    frame.remove();
    return !isSeen;
  };
  const hidden = await Promise.all(htmls.map(isHidden));
  return htmls.filter((_html, at) => hidden[at]);
}`;

async function hiddenIn(page: Page, htmls: readonly string[], sandbox: string): Promise<string[]> {
  const input = JSON.stringify({ htmls, line: LINE, sandbox });
  return page.evaluate(`(${HIDDEN_IN})(${input})`) as Promise<string[]>;
}

t.test('whatever an agent ends its HTML in, with scripts and without', { skip }, async t => {
  const { page } = await openProfile(t, await theBrowser(t));
  const bare = await hiddenIn(
    page,
    ENDS.map(end => `Hello${end}<p>${LINE}</p>`),
    SANDBOXES[0],
  );
  t.ok(bare.length > 35, `${bare.length} of ${ENDS.length} ends hide a line that is put behind them`);
  for (const sandbox of SANDBOXES) {
    const htmls = SURROUNDINGS.flatMap(([head, tail]) => ENDS.map(end => `${head}${end}${tail}`));
    t.same(
      await hiddenIn(
        page,
        htmls.map(html => shown(html, LINE)),
        sandbox,
      ),
      [],
      sandbox,
    );
  }
});
