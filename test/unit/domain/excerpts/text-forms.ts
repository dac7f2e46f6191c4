/** How a mail program writes an answer in plain text. */
export interface TextForm {
  readonly program: string;
  readonly text: string;
  /** The new words that a reader would see in it. */
  readonly newWords: string;
  readonly subject?: string;
}

const quoted = (text: string): string =>
  text
    .split('\n')
    .map(line => (line === '' ? '>' : `> ${line}`))
    .join('\n');

const ORIGINAL = 'Hello,\n\nwhen do you arrive?\n\n-- \nAlex';

/** An answer above the quote, as most programs begin it. */
const above = (program: string, leadIn: string, words = 'On Monday at ten.\n\nBest\nKim'): TextForm => ({
  program,
  text: `${words}\n\n${leadIn}\n\n${quoted(ORIGINAL)}\n`,
  newWords: words,
});

/** The same where nothing marks the quote as one. */
const unmarked = (program: string, before: string, words = 'On Monday at ten.\n\nBest\nKim'): TextForm => ({
  program,
  text: `${words}\n\n${before}\n${ORIGINAL}\n`,
  newWords: words,
});

export const GMAIL: readonly TextForm[] = [
  above('Gmail, English', 'On Wed, Mar 4, 2026 at 10:00 AM Alex Doe <alex@a.example> wrote:'),
  above(
    'Gmail, English, broken',
    'On Wed, Mar 4, 2026 at 10:00 AM Alex Doe the Longest <alex.doe@department.a.example>\nwrote:',
  ),
  above('Gmail, German', 'Am Mi., 4. März 2026 um 10:00 Uhr schrieb Alex Doe <alex@a.example>:'),
  above('Gmail, French', 'Le mer. 4 mars 2026 à 10:00, Alex Doe <alex@a.example> a écrit :'),
  above('Gmail, Spanish', 'El mié, 4 mar 2026 a las 10:00, Alex Doe (<alex@a.example>) escribió:'),
  above(
    'Gmail, Portuguese of Brazil',
    'Em qua., 4 de mar. de 2026 às 10:00, Alex Doe <alex@a.example>\nescreveu:',
  ),
  above('Gmail, Portuguese', 'Alex Doe <alex@a.example> escreveu (quarta, 4/03/2026 à(s) 10:00):'),
  above('Gmail, Japanese', '2026年3月4日(水) 10:00 Alex Doe <alex@a.example>:'),
  above('Gmail, Italian', 'Il giorno mer 4 mar 2026 alle ore 10:00 Alex Doe <alex@a.example> ha scritto:'),
  above('Gmail, Dutch', 'Op wo 4 mrt 2026 om 10:00 schreef Alex Doe <alex@a.example>:'),
  above('Gmail, Polish', 'śr., 4 mar 2026 o 10:00 Alex Doe <alex@a.example> napisał(a):'),
  above('Gmail, Russian', 'ср, 4 мар. 2026 г. в 10:00, Alex Doe <alex@a.example>:'),
  above('Gmail, Swedish', 'Den ons 4 mars 2026 kl 10:00 skrev Alex Doe <alex@a.example>:'),
  above('Gmail, Chinese', 'Alex Doe <alex@a.example> 于2026年3月4日周三 10:00写道：'),
  above('Gmail, Korean', '2026년 3월 4일 (수) 오전 10:00, Alex Doe <alex@a.example>님이 작성:'),
  above('Gmail, Turkish', 'Alex Doe <alex@a.example>, 4 Mar 2026 Çar, 10:00 tarihinde şunu yazdı:'),
];

export const APPLE: readonly TextForm[] = [
  above('Apple Mail, English', '> On 4. Mar 2026, at 10:00, Alex Doe <alex@a.example> wrote:'),
  above('Apple Mail, English, later', 'On Mar 4, 2026, at 10:00 AM, Alex Doe <alex@a.example> wrote:'),
  above('Apple Mail, German', 'Am 04.03.2026 um 10:00 schrieb Alex Doe <alex@a.example>:'),
  above('Apple Mail, French', 'Le 4 mars 2026 à 10:00, Alex Doe <alex@a.example> a écrit :'),
  above('Apple Mail, Spanish', 'El 4 mar 2026, a las 10:00, Alex Doe <alex@a.example> escribió:'),
  above('Apple Mail, Portuguese', 'No dia 04/03/2026, às 10:00, Alex Doe <alex@a.example> escreveu:'),
  above('Apple Mail, Japanese', '2026/03/04 10:00、Alex Doe <alex@a.example>のメール:'),
  above('Apple Mail, Italian', 'Il giorno 4 mar 2026, alle ore 10:00, Alex Doe <alex@a.example> ha scritto:'),
];

export const THUNDERBIRD: readonly TextForm[] = [
  above('Thunderbird, English', 'On 3/4/26 10:00, Alex Doe wrote:'),
  above('Thunderbird, German', 'Am 04.03.26 um 10:00 schrieb Alex Doe:'),
  above('Thunderbird, French', 'Le 04/03/2026 à 10:00, Alex Doe a écrit :'),
  above('Thunderbird, Spanish', 'El 4/3/26 a las 10:00, Alex Doe escribió:'),
  above('Thunderbird, Portuguese of Brazil', 'Em 04/03/2026 10:00, Alex Doe escreveu:'),
  above('Thunderbird, Portuguese', 'Às 10:00 de 04/03/2026, Alex Doe escreveu:'),
  above('Thunderbird, Japanese', 'On 2026/03/04 10:00, Alex Doe wrote:'),
  {
    program: 'Thunderbird, below the quote',
    text: `On 3/4/26 10:00, Alex Doe wrote:\n${quoted(ORIGINAL)}\n\nOn Monday at ten.\n\n-- \nKim\nOffice 3\n`,
    newWords: 'On Monday at ten.',
  },
  {
    program: 'Thunderbird, between the quotes',
    text: 'On 3/4/26 10:00, Alex Doe wrote:\n> When do you arrive?\n\nOn Monday.\n\n> And who comes?\n\nAll of us.\n> Good?\nYes.\n',
    newWords: 'On Monday.\n\nAll of us.\nYes.',
  },
];

export const OUTLOOK: readonly TextForm[] = [
  unmarked(
    'Outlook of old, English',
    '-----Original Message-----\nFrom: Alex Doe [mailto:alex@a.example] \nSent: Wednesday, March 4, 2026 10:00 AM\nTo: Kim\nSubject: Your visit\n',
  ),
  unmarked(
    'Outlook of old, German',
    '-----Ursprüngliche Nachricht-----\nVon: Alex Doe <alex@a.example> \nGesendet: Mittwoch, 4. März 2026 10:00\nAn: Kim\nBetreff: Ihr Besuch\n',
  ),
  unmarked(
    'Outlook of old, French',
    "-----Message d'origine-----\nDe : Alex Doe <alex@a.example> \nEnvoyé : mercredi 4 mars 2026 10:00\nÀ : Kim\nObjet : Votre visite\n",
  ),
  unmarked(
    'Outlook of old, Spanish',
    '-----Mensaje original-----\nDe: Alex Doe <alex@a.example> \nEnviado el: miércoles, 4 de marzo de 2026 10:00\nPara: Kim\nAsunto: Su visita\n',
  ),
  unmarked(
    'Outlook of old, Portuguese',
    '-----Mensagem original-----\nDe: Alex Doe <alex@a.example> \nEnviada em: quarta-feira, 4 de março de 2026 10:00\nPara: Kim\nAssunto: A visita\n',
  ),
  unmarked(
    'Outlook of old, Japanese',
    '-----元のメッセージ-----\n差出人: Alex Doe <alex@a.example> \n送信日時: 2026年3月4日水曜日 10:00\n宛先: Kim\n件名: 訪問\n',
  ),
  unmarked(
    'Outlook, English',
    'From: Alex Doe <alex@a.example> \nSent: Wednesday, March 4, 2026 10:00 AM\nTo: Kim <kim@b.example>\nCc: A very long list <list@b.example>; Another <another@b.example>;\n  Third <third@b.example>\nSubject: Your visit\n',
  ),
  unmarked(
    'Outlook, German',
    'Von: Alex Doe <alex@a.example> \nGesendet: Mittwoch, 4. März 2026 10:00\nAn: Kim <kim@b.example>\nBetreff: Ihr Besuch\n',
  ),
  unmarked(
    'Outlook, French',
    'De : Alex Doe <alex@a.example> \nEnvoyé : mercredi 4 mars 2026 10:00\nÀ : Kim <kim@b.example>\nObjet : Votre visite\n',
  ),
  unmarked(
    'Outlook, Spanish',
    'De: Alex Doe <alex@a.example> \nEnviado el: miércoles, 4 de marzo de 2026 10:00\nPara: Kim <kim@b.example>\nAsunto: Su visita\n',
  ),
  unmarked(
    'Outlook, Portuguese',
    'De: Alex Doe <alex@a.example> \nEnviada: 4 de março de 2026 10:00\nPara: Kim <kim@b.example>\nAssunto: A visita\n',
  ),
  unmarked(
    'Outlook, Japanese',
    '差出人: Alex Doe <alex@a.example>\n送信日時: 2026年3月4日 10:00\n宛先: Kim <kim@b.example>\n件名: 訪問\n',
  ),
  unmarked(
    'Outlook on the web, English',
    '________________________________\nFrom: Alex Doe <alex@a.example>\nSent: Wednesday, March 4, 2026 10:00 AM\nTo: Kim <kim@b.example>\nSubject: Your visit\n',
  ),
  unmarked(
    'Outlook on the web, German',
    '________________________________\nVon: Alex Doe <alex@a.example>\nGesendet: Mittwoch, 4. März 2026 10:00\nAn: Kim <kim@b.example>\nBetreff: Ihr Besuch\n',
  ),
  unmarked(
    'Outlook on the web, as text of bold HTML',
    '*From:* Alex Doe <alex@a.example>\n*Sent:* Wednesday, March 4, 2026 10:00 AM\n*To:* Kim <kim@b.example>\n*Subject:* Your visit\n',
  ),
  unmarked(
    'web.de',
    'Gesendet: Mittwoch, 04. März 2026 um 10:00 Uhr\nVon: "Alex Doe" <alex@a.example>\nAn: kim@b.example\nBetreff: Ihr Besuch\n',
  ),
];

export const MOBILE: readonly TextForm[] = [
  {
    ...above(
      'iPhone, English',
      'On Mar 4, 2026, at 10:00, Alex Doe <alex@a.example> wrote:',
      'On Monday.\n\nSent from my iPhone',
    ),
    newWords: 'On Monday.',
  },
  {
    ...above(
      'iPhone, German',
      'Am 04.03.2026 um 10:00 schrieb Alex Doe <alex@a.example>:',
      'Am Montag.\n\nVon meinem iPhone gesendet',
    ),
    newWords: 'Am Montag.',
  },
  {
    ...above(
      'iPhone, French',
      'Le 4 mars 2026 à 10:00, Alex Doe <alex@a.example> a écrit :',
      'Lundi.\n\nEnvoyé de mon iPhone',
    ),
    newWords: 'Lundi.',
  },
  {
    ...above(
      'iPhone, Spanish',
      'El 4 mar 2026, a las 10:00, Alex Doe <alex@a.example> escribió:',
      'El lunes.\n\nEnviado desde mi iPhone',
    ),
    newWords: 'El lunes.',
  },
  {
    ...above(
      'iPhone, Portuguese',
      'Em 4 de mar. de 2026, à(s) 10:00, Alex Doe <alex@a.example> escreveu:',
      'Na segunda.\n\nEnviado do meu iPhone',
    ),
    newWords: 'Na segunda.',
  },
  {
    ...above(
      'iPhone, Japanese',
      '2026/03/04 10:00、Alex Doe <alex@a.example>のメール:',
      '月曜日です。\n\niPhoneから送信',
    ),
    newWords: '月曜日です。',
  },
  {
    ...unmarked(
      'Outlook for iOS, English',
      '________________________________\nFrom: Alex Doe <alex@a.example>\nSent: Wednesday, March 4, 2026 10:00:00 AM\nTo: Kim <kim@b.example>\nSubject: Your visit\n',
      'On Monday.\n\nGet Outlook for iOS<https://aka.ms/o0ukef>',
    ),
    newWords: 'On Monday.',
  },
  {
    ...unmarked(
      'Outlook for Android, German',
      '________________________________\nVon: Alex Doe <alex@a.example>\nGesendet: Mittwoch, 4. März 2026 10:00:00\nAn: Kim <kim@b.example>\nBetreff: Ihr Besuch\n',
      'Am Montag.\n\nOutlook für Android<https://aka.ms/AAb9ysg> beziehen',
    ),
    newWords: 'Am Montag.',
  },
  {
    ...unmarked(
      'Outlook for iOS, French',
      '________________________________\nDe : Alex Doe <alex@a.example>\nEnvoyé : mercredi 4 mars 2026 10:00:00\nÀ : Kim <kim@b.example>\nObjet : Votre visite\n',
      'Lundi.\n\nObtenir Outlook pour iOS<https://aka.ms/o0ukef>',
    ),
    newWords: 'Lundi.',
  },
  {
    ...unmarked(
      'Outlook for iOS, Spanish',
      '________________________________\nDe: Alex Doe <alex@a.example>\nEnviado: miércoles, 4 de marzo de 2026 10:00:00\nPara: Kim <kim@b.example>\nAsunto: Su visita\n',
      'El lunes.\n\nObtener Outlook para iOS<https://aka.ms/o0ukef>',
    ),
    newWords: 'El lunes.',
  },
  {
    ...unmarked(
      'Outlook for iOS, Portuguese',
      '________________________________\nDe: Alex Doe <alex@a.example>\nEnviado: quarta-feira, 4 de março de 2026 10:00:00\nPara: Kim <kim@b.example>\nAssunto: A visita\n',
      'Na segunda.\n\nObter o Outlook para iOS<https://aka.ms/o0ukef>',
    ),
    newWords: 'Na segunda.',
  },
  {
    ...unmarked(
      'Outlook for iOS, Japanese',
      '________________________________\n差出人: Alex Doe <alex@a.example>\n送信日時: 2026年3月4日 10:00:00\n宛先: Kim <kim@b.example>\n件名: 訪問\n',
      '月曜日です。\n\nOutlook for iOS<https://aka.ms/o0ukef>を入手',
    ),
    newWords: '月曜日です。',
  },
  {
    ...unmarked(
      'Samsung, English',
      '-------- Original message --------\nFrom: Alex Doe <alex@a.example>\nDate: 3/4/26 10:00 (GMT+01:00)\nTo: kim@b.example\nSubject: Your visit\n',
      'On Monday.\n\nSent from my Galaxy',
    ),
    newWords: 'On Monday.',
  },
  {
    ...unmarked(
      'Samsung, German',
      '-------- Ursprüngliche Nachricht --------\nVon: Alex Doe <alex@a.example>\nDatum: 04.03.26 10:00 (GMT+01:00)\nAn: kim@b.example\nBetreff: Ihr Besuch\n',
      'Am Montag.\n\nVon meinem Galaxy gesendet',
    ),
    newWords: 'Am Montag.',
  },
  {
    ...unmarked(
      'Yahoo Mail for a phone',
      'On Wednesday, March 4, 2026, 10:00 AM, Alex Doe <alex@a.example> wrote:\n',
      'On Monday.\n\nSent from Yahoo Mail on Android',
    ),
    newWords: 'On Monday.',
  },
  {
    ...unmarked(
      'Proton Mail',
      'On Wednesday, March 4th, 2026 at 10:00, Alex Doe <alex@a.example> wrote:\n',
      'On Monday.\n\nSent with Proton Mail secure email.',
    ),
    newWords: 'On Monday.\n\nSent with Proton Mail secure email.',
  },
];

const PASSED_ON =
  'From: Alex Doe <alex@a.example>\nDate: Wed, Mar 4, 2026 at 10:00 AM\nSubject: Your visit\nTo: <kim@b.example>\n\nWhen do you arrive?\n\nOn Mon, Mar 2, 2026 at 9:00 AM Kim <kim@b.example> wrote:\n\n> I am coming.';

const passedOn = (
  program: string,
  title: string,
  words = 'Please answer this.',
  subject = 'Fwd: Your visit',
): TextForm => {
  const text = `${words === '' ? '' : `${words}\n\n`}${title}\n${PASSED_ON}`;
  return { program, text: `${text}\n`, newWords: text, subject };
};

/** Mail that is passed on is no quote, nor what that quotes in turn. */
export const FORWARDS: readonly TextForm[] = [
  passedOn('Gmail', '---------- Forwarded message ---------'),
  passedOn('Gmail, nothing said', '---------- Forwarded message ---------', ''),
  passedOn('Thunderbird', '-------- Forwarded Message --------'),
  passedOn(
    'Thunderbird, German',
    '-------- Weitergeleitete Nachricht --------',
    'Bitte beantworten.',
    'Fwd: Besuch',
  ),
  passedOn('Thunderbird, French', '-------- Message transféré --------'),
  passedOn('Thunderbird, Spanish', '-------- Mensaje reenviado --------'),
  passedOn('Thunderbird, Portuguese', '-------- Mensagem encaminhada --------'),
  passedOn('Thunderbird, Japanese', '-------- 転送メッセージ --------'),
  passedOn('Apple Mail, quoted', 'Begin forwarded message:\n'),
  passedOn('Apple Mail, German', 'Anfang der weitergeleiteten Nachricht:\n'),
  passedOn('Apple Mail, French', 'Début du message réexpédié :\n'),
  passedOn('Apple Mail, Spanish', 'Inicio del mensaje reenviado:\n'),
  passedOn('Apple Mail, Portuguese', 'Início da mensagem encaminhada:\n'),
  passedOn('Apple Mail, Japanese', '転送されたメッセージ:\n'),
  passedOn('Outlook, by its subject alone', '', 'See below.', 'FW: Your visit'),
  passedOn('Outlook, German', '________________________________', 'Siehe unten.', 'WG: Besuch'),
  {
    program: 'Apple Mail, the whole marked like a quote',
    text: 'Please answer.\n\n> Begin forwarded message:\n> \n> From: Alex\n> \n> When?\n',
    newWords: 'Please answer.\n\n> Begin forwarded message:\n> \n> From: Alex\n> \n> When?',
  },
];

/** What looks like a quote, a signature or a footer, and is none. */
export const NO_QUOTES: readonly TextForm[] = [
  'Hello',
  'He wrote:\n\nthat he comes.',
  'On Monday we met. He wrote down the address:\n\nMain Street 3',
  'Trains:\n\nFrom: Berlin\nTo: Paris\nDate: 4 March 2026\n\nBook it.',
  'Please fill in:\nSubject: ...\nTo: ...\n\nThanks',
  'Prices:\n- one\n- two\n--\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\nthirteen\nfourteen',
  'The newsletter was sent from my old address, sorry.\n\nKim',
  'a > b, and b < c',
  'Agenda for 4 March 2026, 10:00:\n\n- arrive\n- leave',
  'The contact is Alex <alex@a.example>, reachable until 10:00:\n\nPlease write.',
].map((text, at) => ({ program: `text ${at + 1}`, text, newWords: text }));
