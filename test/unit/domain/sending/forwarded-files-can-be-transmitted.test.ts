import fc from 'fast-check';
import t from 'tap';
import { resultOf } from '../../../../src/domain/errors.js';
import {
  deriveForward,
  type ForwardableFile,
  type ForwardedFile,
  forwardedFiles,
} from '../../../../src/domain/forward.js';
import { isUsableContentId } from '../../../../src/domain/message-ids.js';
import { isMediaType } from '../../../../src/domain/message-parts.js';
import { atOnce } from '../../../support/at-once.js';

const file: ForwardableFile = {
  id: 'a1',
  filename: 'report.pdf',
  mime_type: 'application/pdf',
  disposition: 'attachment',
  content_id: null,
  related: false,
};

function forwarded(changes: Partial<ForwardableFile>): ForwardedFile | string {
  const result = resultOf(() => forwardedFiles([{ ...file, ...changes }]));
  return result.ok ? result.value[0]! : result.failure.code;
}

t.test('a file keeps its id, name, type and disposition', async t => {
  t.strictSame(forwarded({}), {
    sourceId: 'a1',
    filename: 'report.pdf',
    type: 'application/pdf',
    disposition: 'attachment',
  });
  t.match(forwarded({ disposition: null }), { disposition: 'attachment' });
  t.match(forwarded({ disposition: 'inline' }), { disposition: 'inline' });
});

t.test('a name that is missing or not safe is made, with the ending of the type', async t => {
  const names: readonly (readonly [string | null, string, string])[] = [
    [null, 'application/pdf', 'attachment-1.pdf'],
    ['..', 'image/JPEG', 'attachment-1.jpg'],
    ['', 'application/x-unheard-of', 'attachment-1.bin'],
    ['../../x\r\ny.pdf', 'application/pdf', 'x y.pdf'],
    ['a\\b.txt', 'text/plain', 'b.txt'],
  ];
  for (const [filename, mime_type, expected] of names) {
    t.match(forwarded({ filename, mime_type }), { filename: expected }, JSON.stringify(filename));
  }
  const unnamed = { ...file, filename: null };
  const made = forwardedFiles([unnamed, file, unnamed]).map(({ filename }) => filename);
  t.match(made, ['attachment-1.pdf', 'report.pdf', 'attachment-3.pdf']);
});

t.test('a type that cannot be used is unknown', async t => {
  for (const mime_type of [
    '',
    'pdf',
    'a/b/c',
    'text/pl\u00e4in',
    "text/it's",
    `a/${'b'.repeat(126)}`,
    'a/b; c=d',
    'a/b\r\n',
  ]) {
    t.match(forwarded({ mime_type }), { type: 'application/octet-stream' }, mime_type);
  }
  t.match(forwarded({ mime_type: 'message/rfc822' }), { type: 'message/rfc822' });
});

t.test('an embedded file keeps the Content-ID by which it is shown', async t => {
  const content_id = 'image001.png@01D1';
  t.match(forwarded({ content_id, related: true, disposition: null }), {
    disposition: 'inline',
    contentId: content_id,
  });
  t.match(forwarded({ content_id, disposition: 'inline' }), { disposition: 'inline', contentId: content_id });
  t.match(forwarded({ content_id }), { disposition: 'attachment', contentId: content_id });
  t.match(forwarded({ related: true }), { disposition: 'attachment', contentId: undefined });
});

t.test('an embedded file with a Content-ID that cannot be given again is refused', async t => {
  for (const content_id of ['a<b', 'a>b', ' a', 'a\tb', 'ä@x', 'a\u0000', 'i'.repeat(984)]) {
    t.equal(forwarded({ content_id, related: true }), 'invalid_message', content_id);
    t.equal(forwarded({ content_id, disposition: 'inline' }), 'invalid_message', content_id);
    t.match(forwarded({ content_id }), { disposition: 'attachment', contentId: undefined }, content_id);
  }
});

t.test('more than 32 files are refused, and none where no files are asked for', async t => {
  const original = {
    from: null,
    to: [],
    cc: [],
    subject: null,
    date: null,
    text: 'x',
    html: null,
    attachments: Array.from({ length: 33 }, () => file),
  };
  const derived = (includeAttachments: boolean) =>
    resultOf(() => atOnce(deriveForward(original, { note: null, includeAttachments })));
  t.match(derived(true), {
    failure: { code: 'message_too_large', message: /33 attachments, and 32 is the most/ },
  });
  t.match(derived(false), {
    ok: true,
    value: { files: [] },
  });
  t.ok(resultOf(() => forwardedFiles(original.attachments.slice(1))).ok);
});

const anything = fc.string({ unit: 'binary', maxLength: 300, size: 'max' });

t.test('for any files what is forwarded passes the checks of files, in their order', async t => {
  const files = fc.array(
    fc.record({
      id: fc.string(),
      filename: fc.option(fc.oneof(anything, fc.constantFrom('.', '..', 'a/', '\\', 'C:'))),
      mime_type: fc.oneof(anything, fc.constantFrom('text/plain', 'image/png')),
      disposition: fc.constantFrom(null, 'inline', 'attachment', 'form-data'),
      content_id: fc.option(fc.oneof(anything, fc.constantFrom('a@b', 'c'))),
      related: fc.boolean(),
    }),
    { maxLength: 32 },
  );
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(files, originals => {
        const result = resultOf(() => forwardedFiles(originals));
        const isRefused = originals.some(
          ({ content_id: id, related, disposition }) =>
            id !== null && !isUsableContentId(id) && (related || disposition === 'inline'),
        );
        if (!result.ok) return isRefused && result.failure.code === 'invalid_message';
        return (
          !isRefused &&
          result.value.map(one => one.sourceId).join() === originals.map(one => one.id).join() &&
          result.value.every(
            one =>
              one.filename !== '' &&
              Buffer.byteLength(one.filename) <= 255 &&
              one.filename.isWellFormed() &&
              !/[\p{Cc}/\\]|^\.+$/u.test(one.filename) &&
              isMediaType(one.type) &&
              (one.contentId === undefined || isUsableContentId(one.contentId)),
          )
        );
      }),
      { numRuns: 500 },
    ),
  );
});
