import { createRequire } from 'node:module';
import { generateCanonicalizedHeader } from 'mailauth/lib/dkim/header/index.js';
import { formatSignatureHeaderLine, parseHeaders } from 'mailauth/lib/tools.js';
import t from 'tap';

/** What src/mail/write relies on in mailauth beyond its documentation. */

const OPTIONS = {
  algorithm: 'rsa-sha256',
  canonicalization: 'relaxed/relaxed',
  selector: 's',
  signingDomain: 'd.example',
  bodyHash: 'aGFzaA==',
  signTime: new Date(7_999),
};

t.test('it is the version that was read', async t => {
  const { version } = createRequire(import.meta.url)('mailauth/package.json') as { version: string };
  t.equal(version, '4.13.3', 'read the new sources, then change this line');
});

t.test('parseHeaders gives each field with its name in lower case and its lines as they are', async t => {
  const { parsed } = parseHeaders(Buffer.from('From: a@b\r\nSubject: one\r\n two\r\nFROM: c@d'));
  t.same(
    parsed.map(({ key, casedKey, line }) => [key, casedKey, line.toString()]),
    [
      ['from', 'From', 'From: a@b'],
      ['subject', 'Subject', 'Subject: one\r\n two'],
      ['from', 'FROM', 'FROM: c@d'],
    ],
  );
});

t.test(
  'generateCanonicalizedHeader signs the fields that are given, and says the names that are given',
  async t => {
    const { parsed } = parseHeaders(Buffer.from('From:  A  <a@b> \r\nSubject: one\r\n two'));
    const signed = { keys: 'From: From: Subject: Cc', headers: parsed };
    const { canonicalizedHeader, dkimHeaderOpts } = generateCanonicalizedHeader('DKIM', signed, OPTIONS);
    t.equal(
      canonicalizedHeader.toString(),
      'from:A <a@b>\r\nsubject:one two\r\ndkim-signature:v=1; a=rsa-sha256; c=relaxed/relaxed; d=d.example; h=From: From: Subject: Cc; q=dns/txt; s=s; t=7; bh=aGFzaA==; b=',
      'a name without a field adds nothing (RFC 6376 section 5.4.2)',
    );
    const tags = {
      a: 'rsa-sha256',
      c: 'relaxed/relaxed',
      s: 's',
      d: 'd.example',
      h: signed.keys,
      bh: 'aGFzaA==',
      t: 7,
    };
    t.same(dkimHeaderOpts, tags);
  },
);

t.test(
  'formatSignatureHeaderLine folds at spaces alone, and differs from what was signed in b alone',
  async t => {
    const domain = `${'x'.repeat(63)}.${'y'.repeat(63)}.example`;
    const { canonicalizedHeader, dkimHeaderOpts } = generateCanonicalizedHeader(
      'DKIM',
      { keys: 'From: From: To: To: Cc: Subject: Subject: Reply-To', headers: [] },
      { ...OPTIONS, signingDomain: domain },
    );
    for (const length of [88, 344]) {
      const field = formatSignatureHeaderLine('DKIM', { ...dkimHeaderOpts, b: 'B'.repeat(length) }, true);
      const unfolded = field.replace(/\r\n /g, ' ');
      t.notMatch(unfolded, /[\r\n]/);
      t.equal(
        unfolded.replace(/; b=.*$/, '; b=').replace('DKIM-Signature: ', 'dkim-signature:'),
        canonicalizedHeader.toString(),
      );
      t.equal(unfolded.replace(/^.*; b=/, '').replace(/ /g, ''), 'B'.repeat(length));
    }
  },
);
