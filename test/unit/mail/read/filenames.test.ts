import t from 'tap';
import { safeFilename } from '../../../../src/domain/text.js';
import { multipart, parseText } from './parse-text.js';

t.test('a name is one path part', async t => {
  t.equal(safeFilename('report.pdf'), 'report.pdf');
  t.equal(safeFilename('../../etc/passwd'), 'passwd');
  t.equal(safeFilename('/etc/cron.d/job'), 'job');
  t.equal(safeFilename('..\\..\\windows\\evil.txt'), 'evil.txt');
  t.equal(safeFilename('C:evil.txt'), 'evil.txt');
  t.equal(safeFilename('a\u0000b\r\n.txt'), 'ab .txt');
  t.equal(safeFilename('gpj\u202eexe.scr'), 'gpjexe.scr');
  t.equal(safeFilename(' a.txt '), 'a.txt');
});

t.test('a name of which nothing is left is null', async t => {
  for (const name of ['', ' ', '.', '..', '...', 'a/', '/', '\\', '\u0000', 'C:', '../..']) {
    t.equal(safeFilename(name), null, JSON.stringify(name));
  }
});

t.test('a name fits a file system and keeps its ending', async t => {
  const long = safeFilename(`${'n'.repeat(400)}.txt`) ?? '';
  t.equal(Buffer.byteLength(long), 255);
  t.match(long, /^n+\.txt$/);
  const wide = safeFilename(`${'日'.repeat(200)}.pdf`) ?? '';
  t.ok(Buffer.byteLength(wide) <= 255);
  t.match(wide, /^日+\.pdf$/u);
});

t.test('escapes in the header lead to the same', async t => {
  const { content } = await parseText(
    multipart(
      'mixed',
      "Content-Disposition: attachment; filename*=utf-8''..%2F..%2Fetc%2Fsha%00dow\n\nx",
      'Content-Disposition: attachment; filename="C:\\\\temp\\\\a.txt"\n\nx',
      'Content-Disposition: attachment; filename="C:\\temp\\b.txt"\n\nx',
      'Content-Disposition: inline; filename=".."\n\nx',
    ),
  );
  t.same(
    content.attachments.map(attachment => attachment.filename),
    ['shadow', 'a.txt', 'b.txt', null],
  );
});
