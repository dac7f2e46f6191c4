/** A piece of HTML: `html.slice(start, end)`. */
export interface HtmlToken {
  /**
   * `markup` is a comment, a document type, or any other `<!...>`, `<?...>` or `</...>` that is not a tag. `part` is a
   * part of something long: nothing is known of it yet, and more of it follows.
   */
  readonly kind: 'text' | 'tag' | 'markup' | 'part';
  /** The name of a tag, in lower case; `""` for text and markup. */
  readonly name: string;
  readonly isClosing: boolean;
  readonly start: number;
  /** For the opening tag of an element of `HIDDEN`, the end of its content. */
  readonly end: number;
}

/** Elements whose content is neither markup nor visible text (HTML Standard, "Parsing HTML documents"). */
const HIDDEN = new Set(['script', 'style', 'title', 'iframe', 'noembed', 'noframes']);
/** Elements whose content is text that is shown as it is written. The last has no closing tag. */
const LITERAL = new Set(['textarea', 'xmp', 'plaintext']);

const COMMENT_END = /--!?>/g;

/** So many characters of one construct are looked at in one step, or a few more. */
const STEP = 64 * 1024;

/** More of a construct is to be looked at in the next step. */
const PART: HtmlToken = { kind: 'part', name: '', isClosing: false, start: 0, end: 0 };

/** In place of the end of a tag: it has not come yet. */
const MORE = -2;

/** A tag whose end is looked for. */
interface OpenTag {
  readonly name: string;
  readonly isClosing: boolean;
  readonly start: number;
}

/** A construct that never ends: for a browser it takes in the rest of the HTML. */
export interface Unclosed {
  /** What would end it, content that is no markup included; `""` where any tag would. */
  readonly closing: string;
  /** The name of the element that an opening tag would then have opened; `""` for any other construct. */
  readonly opens: string;
}

/**
 * Splits HTML into tags, text and other markup as a browser does (HTML Standard, "Tokenization"). It takes linear time
 * for any input, a millisecond or so for each token, and never throws. Where the HTML ends inside a construct, a reader of text is told more than a browser
 * shows: a tag that is not closed is text, a quote that is not closed is none. An unclosed comment or script hides
 * the rest.
 */
export class HtmlScanner {
  readonly #html: string;
  #position = 0;
  /** End of the literal text that begins at the position; at most that is there is none. */
  #literalEnd = 0;
  /** Closing characters that do not occur any more, so that each is searched for in vain only once. */
  readonly #missing = new Set<string>();
  #unclosed: Unclosed | null = null;
  /** The next step of a long construct. */
  #rest: (() => HtmlToken | null) | null = null;
  /** Where the search for the end of a tag is to go on. */
  #pausedAt = 0;

  constructor(html: string) {
    this.#html = html;
  }

  /** The construct that never ends, once the scan has come to it. */
  get unclosed(): Unclosed | null {
    return this.#unclosed;
  }

  next(): HtmlToken | null {
    const html = this.#html;
    const start = this.#position;
    if (start >= html.length) return null;
    const rest = this.#rest;
    this.#rest = null;
    const isMarkup = html[start] === '<' && start >= this.#literalEnd;
    const token = rest !== null ? rest() : isMarkup ? this.#markup(start) : null;
    if (token === PART) return token;
    if (token !== null) {
      this.#position = token.end;
      return token;
    }
    this.#position = start < this.#literalEnd ? this.#literalEnd : this.#textEnd(start + 1);
    return { kind: 'text', name: '', isClosing: false, start, end: this.#position };
  }

  /** The next `<` at or after `from` that may begin markup, or one to go on from. */
  #textEnd(from: number): number {
    const html = this.#html;
    // When no `>` is left, only a comment can still begin: its end may be missing.
    if (this.#missing.has('>')) {
      const comment = html.indexOf('<!--', from);
      return comment < 0 ? html.length : comment;
    }
    for (let at = html.indexOf('<', from); at >= 0; at = html.indexOf('<', at + 1)) {
      if (opensMarkup(html.charCodeAt(at + 1)) || at - from > STEP) return at;
    }
    return html.length;
  }

  /** The token that begins with the `<` at `start`; null when it is text. */
  #markup(start: number): HtmlToken | null {
    const html = this.#html;
    if (html.startsWith('<!--', start)) return markup(start, this.#commentEnd(start));
    const isClosing = html[start + 1] === '/';
    const nameStart = start + (isClosing ? 2 : 1);
    if (isLetter(html.charCodeAt(nameStart))) return this.#tag(start, nameStart, isClosing);
    const isOther = isClosing || html[nameStart] === '!' || html[nameStart] === '?';
    if (!isOther) return null;
    const end = this.#endAfter('>', nameStart);
    if (end < 0) this.#leaveOpen('');
    return end < 0 ? null : markup(start, end);
  }

  #commentEnd(start: number): number {
    const abrupt = /^-?>/.exec(this.#html.slice(start + 4, start + 6));
    if (abrupt !== null) return start + 4 + abrupt[0].length;
    COMMENT_END.lastIndex = start + 4;
    if (COMMENT_END.test(this.#html)) return COMMENT_END.lastIndex;
    this.#leaveOpen('-->');
    return this.#html.length;
  }

  #tag(start: number, nameStart: number, isClosing: boolean): HtmlToken | null {
    const html = this.#html;
    let nameEnd = nameStart;
    while (nameEnd < html.length && !endsName(html.charCodeAt(nameEnd))) nameEnd++;
    const name = html.slice(nameStart, nameEnd).toLowerCase();
    return this.#attributes({ name, isClosing, start }, nameEnd);
  }

  /** @param from the end of the name, or of an attribute */
  #attributes(tag: OpenTag, from: number): HtmlToken | null {
    const { name, isClosing, start } = tag;
    const tagEnd = this.#tagEnd(from, isClosing ? '' : name);
    if (tagEnd === MORE) {
      const goOnAt = this.#pausedAt;
      return this.#goOn(() => this.#attributes(tag, goOnAt));
    }
    if (tagEnd < 0) return null;
    if (!isClosing && name === 'script') return this.#script(tag, new ScriptEnd(this.#html, tagEnd));
    let end = tagEnd;
    if (!isClosing && HIDDEN.has(name)) end = this.#contentEnd(name, tagEnd);
    else if (!isClosing && LITERAL.has(name)) this.#literalEnd = this.#contentEnd(name, tagEnd);
    return { kind: 'tag', name, isClosing, start, end };
  }

  #script(tag: OpenTag, scriptEnd: ScriptEnd): HtmlToken | null {
    const found = scriptEnd.find();
    if (found === null) return this.#goOn(() => this.#script(tag, scriptEnd));
    return { kind: 'tag', ...tag, end: this.#endOr(found) };
  }

  #pauseAt(at: number): number {
    this.#pausedAt = at;
    return MORE;
  }

  #goOn(rest: () => HtmlToken | null): HtmlToken {
    this.#rest = rest;
    return PART;
  }

  /**
   * The position after the `>` that ends a tag, or -1, or `MORE`. A `>` in a quoted value does not count; where the quote is
   * never closed, it does.
   * @param from the end of the name or of an attribute
   * @param opens the element that the tag opens; `""` for a closing tag
   */
  #tagEnd(from: number, opens: string): number {
    const html = this.#html;
    if (this.#missing.has('>')) return -1;
    let at = from;
    for (;;) {
      if (at - from > STEP) return this.#pauseAt(at);
      while (isSpace(html.charCodeAt(at)) || html.charCodeAt(at) === SLASH) at++;
      if (html.charCodeAt(at) === GREATER) return at + 1;
      // The name of an attribute; a `=` at its beginning is a part of it.
      at++;
      while (at < html.length && !endsName(html.charCodeAt(at)) && html.charCodeAt(at) !== EQUALS) at++;
      while (isSpace(html.charCodeAt(at))) at++;
      if (at >= html.length) break;
      if (html.charCodeAt(at) !== EQUALS) continue;
      do at++;
      while (isSpace(html.charCodeAt(at)));
      const quote = html[at];
      if (quote === '"' || quote === "'") {
        const valueEnd = this.#endAfter(quote, at + 1);
        if (valueEnd < 0) {
          this.#leaveTagOpen(`${quote}>`, opens);
          return this.#endAfter('>', at);
        }
        at = valueEnd;
      } else {
        while (at < html.length && !isSpace(html.charCodeAt(at)) && html.charCodeAt(at) !== GREATER) at++;
      }
    }
    this.#leaveTagOpen(opens === '' ? '' : '>', opens);
    return this.#miss('>');
  }

  /** Where the content of an element ends that is no markup: at its closing tag, or with the HTML. */
  #contentEnd(name: string, from: number): number {
    return this.#endOr(plainEnd(this.#html, name, from));
  }

  /** The end of content, which is that of the HTML where it is missing. */
  #endOr({ end, closing }: ContentEnd): number {
    if (end >= 0) return end;
    this.#leaveOpen(closing);
    return this.#html.length;
  }

  /** The position after the next `end`, or -1. */
  #endAfter(end: string, from: number): number {
    const at = this.#missing.has(end) ? -1 : this.#html.indexOf(end, from);
    return at < 0 ? this.#miss(end) : at + 1;
  }

  #miss(end: string): -1 {
    this.#missing.add(end);
    return -1;
  }

  #leaveTagOpen(closing: string, opens: string): void {
    const hasContent = HIDDEN.has(opens) || LITERAL.has(opens);
    this.#leaveOpen(hasContent ? `${closing}</${opens}>` : closing, opens);
  }

  /** The first construct without an end takes in all others. */
  #leaveOpen(closing: string, opens = ''): void {
    this.#unclosed ??= { closing, opens };
  }
}

/** Where content ends: a position or -1, and what would end it there. */
interface ContentEnd {
  readonly end: number;
  readonly closing: string;
}

function plainEnd(html: string, name: string, from: number): ContentEnd {
  const closing = `</${name}>`;
  if (name === 'plaintext') return { end: -1, closing };
  // The name is one of `HIDDEN` or `LITERAL`, so it needs no escaping.
  const end = new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, 'gi');
  end.lastIndex = from;
  return { end: end.exec(html)?.index ?? -1, closing };
}

const SCRIPT_MARK = /<!--|-->|<(\/?)script(?=[\t\n\f\r />])/gi;

/**
 * Where a script ends. It may hold a comment, and in it scripts whose closing tags do not end it (HTML Standard, "Script
 * data double escaped state").
 */
class ScriptEnd {
  readonly #html: string;
  #at: number;
  #isComment = false;
  #isInner = false;

  constructor(html: string, from: number) {
    this.#html = html;
    this.#at = from;
  }

  /** Null when there is more to be looked at: then it is to be asked again. */
  find(): ContentEnd | null {
    const begunAt = this.#at;
    while (this.#at - begunAt <= STEP) {
      SCRIPT_MARK.lastIndex = this.#at;
      const mark = SCRIPT_MARK.exec(this.#html);
      if (mark === null) return { end: -1, closing: this.#isInner ? '--></script>' : '</script>' };
      const [text, slash] = mark;
      this.#at = SCRIPT_MARK.lastIndex;
      if (text === '<!--') {
        this.#isComment = true;
        // Its dashes may be those of the end as well.
        this.#at = mark.index + 2;
      } else if (text === '-->') {
        this.#isComment = false;
        this.#isInner = false;
      } else if (slash === '') {
        this.#isInner ||= this.#isComment;
      } else if (this.#isInner) {
        this.#isInner = false;
      } else {
        return { end: mark.index, closing: '' };
      }
    }
    return null;
  }
}

function markup(start: number, end: number): HtmlToken {
  return { kind: 'markup', name: '', isClosing: false, start, end };
}

const SLASH = 0x2f;
const EQUALS = 0x3d;
const GREATER = 0x3e;

/** Tab, line feed, form feed, carriage return or space: there is no other white space between attributes. */
function isSpace(code: number): boolean {
  return code <= 0x20 && (code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c);
}

/** White space, `/` or `>`. */
function endsName(code: number): boolean {
  return code <= GREATER && (isSpace(code) || code === SLASH || code === GREATER);
}

/** A letter, `/`, `!` or `?`. */
function opensMarkup(code: number): boolean {
  return isLetter(code) || code === SLASH || code === 0x21 || code === 0x3f;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/*
 * Character references (HTML Standard, "Named character references"). Of the two thousand that browsers know, only
 * those of HTML 4: mail has no others.
 */

/** Names in the order of their characters, from U+00A0 on. Browsers accept them without the semicolon too. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute ' +
  'micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring ' +
  'AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml ' +
  'times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil ' +
  'egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ' +
  'ugrave uacute ucirc uuml yacute thorn yuml';

const MARKUP = { amp: '&', lt: '<', gt: '>', quot: '"', AMP: '&', LT: '<', GT: '>', QUOT: '"' };

/** Each name is followed by its character. */
const OTHERS =
  "apos ' OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ Alpha Α Beta Β Gamma Γ Delta Δ " +
  'Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ ' +
  'Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι ' +
  'kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ chi χ psi ψ ' +
  'omega ω thetasym ϑ upsih ϒ piv ϖ ensp \u2002 emsp \u2003 thinsp \u2009 zwnj \u200c zwj \u200d lrm \u200e ' +
  'rlm \u200f ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • ' +
  'hellip … permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € image ℑ weierp ℘ real ℜ trade ™ ' +
  'alefsym ℵ larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ ' +
  'exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ ' +
  'and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ ' +
  'sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊ ' +
  'spades ♠ clubs ♣ hearts ♥ diams ♦';

/** The characters of the numbers 128 to 159 (HTML Standard, "Numeric character reference end state"). */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

const legacy = new Map([
  ...Object.entries(MARKUP),
  ...LATIN_1.split(' ').map((name, at): [string, string] => [name, String.fromCharCode(0xa0 + at)]),
]);
const others = new Map(
  [...OTHERS.matchAll(/(\w+) (\S+|[\u2002\u2003\u2009])(?: |$)/g)].map(([, name = '', char = '']) => [
    name,
    char,
  ]),
);

const REFERENCE = /&(?:#(?:[xX]([0-9a-fA-F]+)|([0-9]+))|([A-Za-z][A-Za-z0-9]+))(;?)/y;

/** Longest piece of `decodedPieces`. */
const PIECE = 16 * 1024;

/** Text in short pieces, its character references decoded; unknown ones stay as written. */
export function* decodedPieces(text: string): Generator<string, void> {
  let position = 0;
  for (;;) {
    const found = text.indexOf('&', position);
    const end = found < 0 ? text.length : found;
    for (; position < end; position += PIECE) yield text.slice(position, Math.min(position + PIECE, end));
    if (found < 0) return;
    REFERENCE.lastIndex = found;
    const match = REFERENCE.exec(text);
    const character = match === null ? null : characterOf(match);
    yield character ?? '&';
    position = found + (match === null || character === null ? 1 : match[0].length);
  }
}

function characterOf([, hex, decimal, name = '', semicolon]: RegExpExecArray): string | null {
  if (hex !== undefined) return characterOfNumber(Number.parseInt(hex, 16));
  if (decimal !== undefined) return characterOfNumber(Number.parseInt(decimal, 10));
  return legacy.get(name) ?? (semicolon === ';' ? (others.get(name) ?? null) : null);
}

/** U+FFFD for a number that is not a character, or is half of a surrogate pair. */
function characterOfNumber(number: number): string {
  const isCharacter = number > 0 && number <= 0x10ffff && (number < 0xd800 || number > 0xdfff);
  if (!isCharacter) return '\ufffd';
  const isWindows = number >= 0x80 && number <= 0x9f;
  return isWindows ? WINDOWS_1252.charAt(number - 0x80) : String.fromCodePoint(number);
}
