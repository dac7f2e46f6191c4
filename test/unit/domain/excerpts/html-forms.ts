/** How a mail program writes an answer in HTML. */
export interface HtmlForm {
  readonly program: string;
  readonly html: string;
  readonly newWords: string;
  readonly subject?: string;
}

const ORIGINAL = '<div>Hello,</div><div><br></div><div>when do you arrive?</div>';

export const HTML_FORMS: readonly HtmlForm[] = [
  {
    program: 'Gmail',
    html: `<div dir="ltr">On Monday.<div><br></div><div>Kim</div></div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Wed, Mar 4, 2026 at 10:00 AM Alex Doe &lt;<a href="mailto:alex@a.example">alex@a.example</a>&gt; wrote:<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204);padding-left:1ex">${ORIGINAL}<blockquote class="gmail_quote">older</blockquote></blockquote></div>`,
    newWords: 'On Monday.\n\nKim',
  },
  {
    program: 'Gmail, German, with a signature',
    html: `<div dir="ltr"><div>Am Montag.</div><span class="gmail_signature_prefix">-- </span><br><div dir="ltr" class="gmail_signature" data-smartmail="gmail_signature"><div>Kim<br>Büro 3</div></div></div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">Am Mi., 4. März 2026 um 10:00&nbsp;Uhr schrieb Alex Doe &lt;<a href="mailto:alex@a.example">alex@a.example</a>&gt;:<br></div><blockquote class="gmail_quote">${ORIGINAL}</blockquote></div>`,
    newWords: 'Am Montag.',
  },
  {
    program: 'Apple Mail, French',
    html: `<html><head><meta http-equiv="content-type" content="text/html; charset=utf-8"></head><body style="overflow-wrap: break-word;">Lundi.<br id="lineBreakAtBeginningOfMessage"><div><br><blockquote type="cite"><div>Le 4 mars 2026 à 10:00, Alex Doe &lt;alex@a.example&gt; a écrit :</div><br class="Apple-interchange-newline"><div>${ORIGINAL}</div></blockquote></div><br></body></html>`,
    newWords: 'Lundi.',
  },
  {
    program: 'iPhone, Japanese',
    html: `<html><body dir="auto"><div dir="ltr">月曜日です。</div><div dir="ltr"><br></div><div dir="ltr">iPhoneから送信</div><div dir="ltr"><br><blockquote type="cite">2026/03/04 10:00、Alex Doe &lt;alex@a.example&gt;のメール:<br><br></blockquote></div><blockquote type="cite"><div dir="ltr">${ORIGINAL}</div></blockquote></body></html>`,
    newWords: '月曜日です。',
  },
  {
    program: 'Thunderbird, Spanish, between the quotes',
    html: '<html><body><div class="moz-cite-prefix">El 4/3/26 a las 10:00, Alex Doe escribió:<br></div><blockquote type="cite" cite="mid:1@a.example">¿Cuándo?</blockquote><p>El lunes.</p><blockquote type="cite" cite="mid:1@a.example">¿Quién?</blockquote><p>Todos.</p><pre class="moz-signature" cols="72">-- \nKim</pre></body></html>',
    newWords: 'El lunes.\n\nTodos.',
  },
  {
    program: 'Outlook, English',
    html: `<html><body lang="EN-US"><div class="WordSection1"><p class="MsoNormal">On Monday.<o:p></o:p></p><p class="MsoNormal"><o:p>&nbsp;</o:p></p><div><div style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in"><p class="MsoNormal"><b>From:</b> Alex Doe &lt;alex@a.example&gt; <br><b>Sent:</b> Wednesday, March 4, 2026 10:00 AM<br><b>To:</b> Kim &lt;kim@b.example&gt;<br><b>Subject:</b> Your visit<o:p></o:p></p></div></div>${ORIGINAL}</div></body></html>`,
    newWords: 'On Monday.',
  },
  {
    program: 'Outlook, Portuguese',
    html: `<div class="WordSection1"><p class="MsoNormal">Na segunda.</p><div><p class="MsoNormal"><b>De:</b> Alex Doe &lt;alex@a.example&gt; <br><b>Enviada em:</b> quarta-feira, 4 de março de 2026 10:00<br><b>Para:</b> Kim &lt;kim@b.example&gt;<br><b>Assunto:</b> A visita</p></div>${ORIGINAL}</div>`,
    newWords: 'Na segunda.',
  },
  {
    program: 'Outlook on the web, in a language that nobody has listed',
    html: `<div class="elementToProof">Pirmdien.</div><div id="appendonsend"></div><hr tabindex="-1" style="display:inline-block;width:98%"><div id="divRplyFwdMsg" dir="ltr"><font face="Calibri"><b>No:</b> Alex Doe &lt;alex@a.example&gt;<br><b>Nosūtīts:</b> trešdiena<br><b>Kam:</b> Kim<br><b>Temats:</b> Vizīte</font></div>${ORIGINAL}`,
    newWords: 'Pirmdien.',
  },
  {
    program: 'Outlook for iOS',
    html: `<div dir="auto">On Monday.</div><div id="ms-outlook-mobile-signature">Get <a href="https://aka.ms/o0ukef">Outlook for iOS</a></div><div id="mail-editor-reference-message-container"><hr><div id="divRplyFwdMsg"><b>From:</b> Alex</div>${ORIGINAL}</div>`,
    newWords: 'On Monday.',
  },
  {
    program: 'Yahoo',
    html: `<div class="yahoo-style-wrap">On Monday.</div><div id="yahoo_quoted_1" class="yahoo_quoted"><div>On Wednesday, March 4, 2026 at 10:00:00 AM GMT+1, Alex Doe &lt;alex@a.example&gt; wrote:</div><div>${ORIGINAL}</div></div>`,
    newWords: 'On Monday.',
  },
  {
    program: 'Proton Mail',
    html: `<div>On Monday.</div><div class="protonmail_signature_block">Kim</div><div class="protonmail_quote">On Wednesday, March 4th, 2026 at 10:00, Alex Doe wrote:<br><blockquote class="protonmail_quote" type="cite">${ORIGINAL}</blockquote></div>`,
    newWords: 'On Monday.',
  },
  {
    program: 'GMX',
    html: `<html><body><div>Am Montag.</div><div name="quote" style="border-left: 2px solid rgb(195,217,229);"><div><b>Gesendet:</b> Mittwoch<br/><b>Von:</b> Alex<br/><b>An:</b> kim@b.example<br/><b>Betreff:</b> Besuch</div><div name="quoted-content">${ORIGINAL}</div></div></body></html>`,
    newWords: 'Am Montag.',
  },
  {
    program: 'Gmail, passed on',
    subject: 'Fwd: Your visit',
    html: `<div dir="ltr">Please answer.<br><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">---------- Forwarded message ---------<br>From: <b>Alex Doe</b><br>Subject: Your visit<br>To: kim@b.example<br></div><br>When?</div></div>`,
    newWords:
      'Please answer.\n\n---------- Forwarded message ---------\nFrom: Alex Doe\nSubject: Your visit\nTo: kim@b.example\n\nWhen?',
  },
  {
    program: 'Apple Mail, passed on',
    subject: 'Fwd: Your visit',
    html: '<body>Please answer.<br><div><br><blockquote type="cite"><div>Begin forwarded message:</div><br><div><b>From: </b>Alex</div><div><b>Subject: </b>Your visit</div><br><div>When?</div></blockquote></div></body>',
    newWords: 'Please answer.\n\nBegin forwarded message:\n\nFrom: Alex\nSubject: Your visit\n\nWhen?',
  },
  {
    program: 'Outlook on the web, passed on',
    subject: 'FW: Your visit',
    html: '<div>See below.</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>From:</b> Alex<br><b>Sent:</b> Wednesday<br><b>To:</b> Kim<br><b>Subject:</b> Your visit</div><div>When?</div>',
    newWords: 'See below.\n\nFrom: Alex\nSent: Wednesday\nTo: Kim\nSubject: Your visit\nWhen?',
  },
  {
    program: 'a newsletter that cites somebody',
    subject: 'News',
    html: '<p>He said:</p><blockquote>All is well.</blockquote><p>Read on.</p>',
    newWords: 'He said:\n\nAll is well.\n\nRead on.',
  },
  {
    program: 'a quote that is never closed',
    html: '<p>Yes.</p><blockquote type=cite>Really?',
    newWords: 'Yes.',
  },
  { program: 'nothing but a quote', html: '<blockquote type="cite">Really?</blockquote>', newWords: '' },
];
