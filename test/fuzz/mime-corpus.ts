import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { casesFolder } from '../support/letters/mime-cases.js';

const crlf = (text: string): Buffer => Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'utf8');

const HEAD = `From: =?utf-8?Q?J=C3=B6rg?= <joerg@client.example>
To: "Agent, the" <agent@example.org>, undisclosed: a@b.example, c@d.example;
Cc: (comment) other@example.org
Subject: =?utf-8?B?w6TDtsO8?= =?iso-8859-1?Q?_and_=E4?=
Date: Fri, 27 Nov 2026 10:00:00 +0000 (UTC)
Message-ID: <1@client.example>
In-Reply-To: <0@client.example>
References: <0@client.example>
 <00@client.example>
MIME-Version: 1.0
`;

const own: readonly Buffer[] = [
  crlf(`${HEAD}\nplain text\n.dots\nFrom here\n`),
  crlf(
    `${HEAD}Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\n\n> quoted \n> more\nflow \ned\n-- \nsig\n`,
  ),
  crlf(`${HEAD}Content-Type: text/html; charset="windows-1252"
Content-Transfer-Encoding: quoted-printable

<html><meta charset=3Dutf-8><p>soft =
line =E4 =ZZ =3D</p></html>
`),
  crlf(`${HEAD}Content-Type: multipart/mixed; boundary="b1"

preamble
--b1
Content-Type: multipart/alternative; boundary=b2

--b2
Content-Type: text/plain; charset=iso-2022-jp
Content-Transfer-Encoding: 7bit

\u001b$B$3$s$K$A$O\u001b(B
--b2
Content-Type: multipart/related; boundary=b3

--b3
Content-Type: text/html

<img src="cid:one@x">
--b3
Content-Type: image/png; name="a.png"
Content-ID: <one@x>
Content-Transfer-Encoding: base64

iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
--b3--
--b2--
--b1
Content-Type: application/octet-stream; name*0*=utf-8''%e4; name*1=b.bin
Content-Disposition: attachment; filename*=utf-8''..%2f..%2fetc%2fpasswd
Content-Transfer-Encoding: base64

AAECAwQFBgcICQo=
--b1
Content-Type: message/rfc822

Subject: inner
Content-Type: multipart/digest; boundary=b4

--b4

Subject: digest part

text
--b4--
--b1--
epilogue
`),
];

const sizeLimit = 100_000;

/** The messages that are mutated: our own, and the recorded cases if they are available. */
export function messageCorpus(): readonly Buffer[] {
  const folder = casesFolder();
  if (folder === null) return own;
  const cases = join(folder, 'mime');
  const recorded = readdirSync(cases)
    .filter(name => name.endsWith('.eml'))
    .sort()
    .map(name => readFileSync(join(cases, name)))
    .filter(raw => raw.length <= sizeLimit);
  return [...own, ...recorded];
}
