/**
 * What mail programs write around the mail that they quote or pass on, in the languages they speak. Lines are given
 * without white space around them, and never longer than `MAX_LINE`: so each look takes bounded time.
 */

/** UTF-16 units of a line that are looked at; what programs write themselves is shorter. */
export const MAX_LINE = 600;
const MAX_TITLE = 160;
/** A field of other mail has its colon within so many. */
const MAX_FIELD_NAME = 24;

/** Asked of every line before anything that costs more. */
export function endsInColon(line: string): boolean {
  return isColon(line.charCodeAt(line.length - 1));
}

export function isColon(unit: number): boolean {
  return unit === 0x3a || unit === 0xff1a;
}

/** `-`, `_`, `=`, and the longer dashes. */
export function isDash(unit: number): boolean {
  return unit === 0x2d || unit === 0x5f || unit === 0x3d || unit === 0x2013 || unit === 0x2014;
}

/** Any of these words, each on its own where letters have bounds. */
function anyOf(words: string): string {
  return words
    .trim()
    .split('\n')
    .map(line => line.trim())
    .join('|');
}

/** Above mail that is passed on, between dashes: Gmail, Thunderbird, Yahoo, and the mail of this service. */
const FORWARD_TITLES = anyOf(`
  forwarded (?:message|email|mail)(?: (?:from|by|follows) .*)?
  weitergeleitete (?:nachricht|e-?mail)(?: von .*)?
  (?:message|courriel|e-?mail) (?:transféré|transmis|réexpédié)(?: de .*)?
  mensaje reenviado(?: de .*)?
  mensagem (?:re)?encaminhada(?: (?:de|por) .*)?
  転送(?:された)?(?:メッセージ|メール)
  messaggio inoltrato(?: da .*)?
  doorgestuurd(?:e)? (?:bericht|e-?mail)(?: van .*)?
  (?:vidarebefordrat|videresendt|videresendte) (?:meddelande|meddelelse|melding)
  (?:wiadomość przekazana|przekazana wiadomość|treść przekazanej wiadomości)
  (?:пересылаемое|переадресованное|перенаправленное) (?:сообщение|письмо)
  (?:转发的?|轉寄的?)(?:邮件|郵件|信息|訊息|消息)(?:信息)?
  (?:전달된|전달한) (?:메시지|메일)
`);

/** The same of Apple Mail, which puts a colon behind it. */
const FORWARD_BEGINNINGS = anyOf(`
  begin forwarded message
  anfang der weitergeleiteten (?:nachricht|e-?mail)
  début du (?:message|courriel|e-?mail) (?:réexpédié|transféré)
  (?:inicio del mensaje reenviado|inicia el mensaje reenviado)
  início da mensagem (?:re)?encaminhada
  転送された(?:メッセージ|メール)
  inizio (?:del )?messaggio inoltrato
  begin doorgestuurd bericht
  (?:vidarebefordrat brev|start på videresendt besked|start på videresendt melding)
  початок переадресованого повідомлення
  начало переадресованного сообщения
  (?:以下是转发的邮件|以下是轉寄的郵件|开始转发的邮件)
  (?:전달된 메시지)
`);

const FORWARD_TITLE = new RegExp(`^[-_=—]{2,}\\s*(?:${FORWARD_TITLES})\\s*:?\\s*[-_=—]{2,}$`, 'iu');
const FORWARD_BEGINNING = new RegExp(`^(?:${FORWARD_BEGINNINGS})\\s?[:：]$`, 'iu');

/** Does this line say that what follows is mail that is passed on? */
export function isForwardTitle(line: string): boolean {
  if (line.length > MAX_TITLE) return false;
  return isDash(line.charCodeAt(0))
    ? FORWARD_TITLE.test(line)
    : endsInColon(line) && FORWARD_BEGINNING.test(line);
}

const FORWARD_SUBJECT = /^\s*(?:fwd?|wg|tr|rv|enc|i|vb|vs|vl|doorst|転送|转发|轉寄|전달)\s*[:：]/iu;

/** Says the subject that the message passes another on? Not that of an answer to such a message. */
export function isForwardSubject(subject: string | null): boolean {
  return subject !== null && FORWARD_SUBJECT.test(subject.slice(0, 32));
}

/** Above the mail that is answered, between dashes: Outlook of old, and many others. */
const ORIGINAL_TITLES = anyOf(`
  original (?:message|mail|email|appointment)
  (?:ursprüngliche|originale) (?:nachricht|e-?mail)
  original-?(?:nachricht|e-?mail)
  (?:message|courriel|e-?mail) (?:d['’]origine|original|initial|précédent)
  mensaje original
  mensagem original
  (?:元の|オリジナル)(?:メッセージ|メール)
  original ?(?:メッセージ|メール)
  messaggio originale
  oorspronkelijk bericht
  (?:ursprungligt meddelande|oprindelig meddelelse|opprinnelig melding)
  (?:wiadomość oryginalna|oryginalna wiadomość)
  (?:исходное|оригинальное) (?:сообщение|письмо)
  (?:原始邮件|原始郵件|原邮件|原始信件|邮件原件)
  (?:원본 메시지|원본 메일)
`);

const ORIGINAL_TITLE = new RegExp(`^[-_=—]{2,}\\s*(?:${ORIGINAL_TITLES})\\s*:?\\s*[-_=—]{2,}$`, 'iu');

/** Does this line say that what follows is the mail that is answered? */
export function isOriginalTitle(line: string): boolean {
  return line.length <= MAX_TITLE && isDash(line.charCodeAt(0)) && ORIGINAL_TITLE.test(line);
}

/** A line that only divides: programs put one before the fields of the mail that is answered. */
export function isDivider(line: string): boolean {
  return /^(?:_{5,}|-{5,}|={5,}|—{2,})$/u.test(line);
}

/** The fields that a program repeats of the mail that is answered or passed on. */
export type RepeatedField = 'from' | 'sent' | 'to' | 'cc' | 'subject';

const FIELDS: readonly (readonly [RepeatedField, string])[] = [
  [
    'from',
    'from|von|de|da|van|från|fra|od|от|від|kimden|lähettäjä|expéditeur|差出人|送信者|from\\(差出人\\)|发件人|寄件者|寄件人|보낸 ?사람',
  ],
  [
    'sent',
    "sent|date|gesendet|datum|envoyé|envoyé le|date d['’]envoi|enviado|enviado el|enviado em|enviada em|enviada|fecha|data|" +
      'inviato|verzonden|skickat|sendt|dato|wysłano|отправлено|дата|lähetetty|päiväys|gönderilen|gönderildi|tarih|' +
      '送信日時|日時|日付|发送时间|发送日期|时间|日期|寄件日期|보낸 ?날짜|날짜',
  ],
  ['to', 'to|an|à|para|a|aan|till|til|do|кому|kime|vastaanottaja|destinataire|宛先|收件人|收件者|받는 ?사람'],
  ['cc', 'cc|kopie|copie|copie à|copia|kopia|копия|抄送|副本|참조'],
  [
    'subject',
    'subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|temat|тема|aihe|konu|sujet|件名|主题|主旨|主題|제목',
  ],
];

const FIELD_LINE = new RegExp(
  `^\\*?(?:${FIELDS.map(([name, words]) => `(?<${name}>${words})`).join('|')})\\*?\\s{0,2}[:：]\\*?(?:\\s|$|[^\\s/])`,
  'iu',
);

/** Which field of other mail a line repeats; null when it does not. */
export function repeatedField(line: string): RepeatedField | null {
  if (!hasEarlyColon(line)) return null;
  const groups = FIELD_LINE.exec(line)?.groups;
  if (groups === undefined) return null;
  return FIELDS.find(([name]) => groups[name] !== undefined)?.[0] ?? null;
}

/** Has a line its first colon where one would stand behind the name of a field? */
export function hasEarlyColon(text: string, start = 0, end = text.length): boolean {
  for (let at = start; at < Math.min(end, start + MAX_FIELD_NAME); at++) {
    if (isColon(text.charCodeAt(at))) return true;
  }
  return false;
}

/** Verbs of the line before a quote: "On 4 March 2026 at 10:00, Alex <alex@example.org> wrote:". */
const WROTE =
  /(?<!\p{L})(?:wrote|writes|schrieb|schreibt|geschrieben|écrit|escribió|escribio|escreveu|escrito|ha scritto|scrive|schreef|schrijft|skrev|skriver|napisał|napisała|napisal|pisze|napsal|kirjoitti|yazdı|пишет|написал|написала|пише|написав)(?!\p{L})|写道|寫道|님이 작성|님이 쓴|のメール|のメッセージ|書きました|wrote/iu;

/** How such a line begins, where a name does not. */
const OPENER =
  /^(?:on|am|le|el|em|no dia|às|a|a las|il|op|den|dne|w dniu|dnia|в|\d|在|于|於|mon|tue|wed|thu|fri|sat|sun|пн|вт|ср|чт|пт|сб|вс)(?![\p{L}])/iu;

const ADDRESS = /[^\s<>@,;:]@[\p{L}\p{N}-]+\.[\p{L}\p{N}.-]+/u;
const DATE =
  /\d{1,4}\s?[./\-年년]\s?\d{1,2}|\d{1,2}(?:\.|er|º|st|nd|rd|th)?\s(?:de\s)?\p{L}{3,10}\.?,?\s(?:de\s)?\d{2,4}|\p{L}{3,10}\.?\s\d{1,2},?\s\d{4}/u;
const TIME = /\d{1,2}\s?[:.h時]\s?\d{2}|\d{1,2}\s?[ap]\.?m\.?/iu;

/** How sure it is that a text leads into a quote. */
export interface LeadIn {
  /** It says how the line would begin, so that none before it belongs to it. */
  readonly isWhole: boolean;
  /** Enough to take what follows as a quote even where nothing marks it as one. */
  readonly isSure: boolean;
}

/** Does a text, of one line or several that were joined, lead into a quote? Null when it does not. */
export function leadIn(text: string): LeadIn | null {
  if (!endsInColon(text) || !/[\d@]/.test(text)) return null;
  const hasAddress = ADDRESS.test(text);
  const hasDate = DATE.test(text);
  const hasTime = TIME.test(text);
  const isWhole = OPENER.test(text);
  if (WROTE.test(text)) {
    if (!hasAddress && !hasDate && !hasTime) return null;
    return { isWhole, isSure: (hasAddress && (hasDate || hasTime)) || (isWhole && hasDate && hasTime) };
  }
  // In whatever language: who, and when.
  return hasAddress && (hasDate || hasTime) ? { isWhole, isSure: false } : null;
}

const FOOTERS: readonly RegExp[] = [
  /^(?:sent|posted) (?:from|via|with|using) (?:my |the )?[^.!?]{2,60}$/iu,
  /^(?:von meinem [^.!?]{2,40} gesendet|(?:gesendet|versendet|verschickt) (?:von|mit|aus|über) [^.!?]{2,60}|diese nachricht wurde von meinem [^.!?]{2,60} gesendet\.?)$/iu,
  /^(?:envoyé|expédié) (?:de(?:puis)?|à partir d[eu]|avec|via) (?:mon |ma |l['’])?[^.!?]{2,60}$/iu,
  /^enviad[oa] (?:desde|de|do|da|a partir d[eo]|con|com|pelo|pela|via) (?:mi |meu |minha |el |o )?[^.!?]{2,60}$/iu,
  /^(?:inviato da|verzonden (?:vanaf|met|via|van)|verstuurd vanaf|skickat från|sendt fra|wysłane z|отправлено (?:с|из)|lähetetty) [^.!?]{2,60}$/iu,
  /^(?:.{0,30}(?:iphone|ipad|android|スマートフォン|携帯)から送信(?:されました)?|(?:从|從|发自)我?的? ?[^.!?。]{2,40}(?:发送|傳送)?|나의 [^.!?]{2,40}에서 보냄)[.。]?$/iu,
  /^(?:get|obtenir|télécharge[rz]|obtener|obtén|obter|obtenha|scarica|download|hämta|hent|laden sie|holen sie sich)\s?(?:l['’]application )?(?:the |o )?outlook (?:for|für|pour|para|per|voor|för|til|til) (?:ios|android|mac|windows)\s?(?:app )?(?:beziehen|herunter)?\s?(?:<[^>]*>)?\.?$/iu,
  /^outlook (?:für|for) (?:ios|android|mac)\s?(?:<[^>]*>)?\s?(?:beziehen|herunterladen|を入手|をダウンロード)(?:する)?\s?(?:<[^>]*>)?$/iu,
];

/** A line that the program of a device puts under what was written on it. */
export function isFooter(line: string): boolean {
  return line.length <= 160 && FOOTERS.some(footer => footer.test(line));
}
