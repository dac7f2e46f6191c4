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
 * for any input, a millisecond or so for each token, and never throws. Where the HTML ends inside a construct, a reader
 * of text is told more than a browser shows: a tag that is not closed is text, a quote that is not closed is none. An
 * unclosed comment or script hides the rest.
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
