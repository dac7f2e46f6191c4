import { isAscii } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { declaredHtmlCharset, decodeText, meaningOfBytes } from './charset.js';

/**
 * Decodes a text as its bytes arrive, as far as its charset allows, so that neither all of the bytes nor a second copy
 * of the text are held. Lines end in LF in place of CRLF, the line end of text in mail (RFC 2046 section 4.1.1); a CR
 * alone stays.
 */
export class TextStream {
  readonly #charset: string | null;
  readonly #isHtml: boolean;
  readonly #utf8: StringDecoder | null;
  /** Bytes whose meaning depends on what follows: all from the first piece on that is not ASCII, or from the start. */
  readonly #undecoded: Buffer[] = [];
  readonly #isAsciiPlain: boolean;
  readonly #texts: string[] = [];
  #endsInCr = false;

  /** @param charset as the header of the part names it; HTML without one may declare its own */
  constructor(charset: string | null, isHtml: boolean) {
    this.#charset = charset;
    this.#isHtml = isHtml;
    const meaning = meaningOfBytes(charset);
    this.#utf8 = meaning === 'utf8' ? new StringDecoder('utf8') : null;
    this.#isAsciiPlain = meaning === 'ascii' && !(isHtml && charset === null);
  }

  write(bytes: Buffer): void {
    if (this.#utf8 !== null) this.#add(this.#utf8.write(bytes));
    else if (this.#isAsciiPlain && this.#undecoded.length === 0 && isAscii(bytes))
      this.#add(bytes.toString('latin1'));
    else this.#undecoded.push(bytes);
  }

  /** The whole text. */
  end(): string {
    if (this.#utf8 !== null) this.#add(this.#utf8.end());
    if (this.#undecoded.length > 0) {
      const bytes = Buffer.concat(this.#undecoded.splice(0));
      const charset = this.#charset ?? (this.#isHtml ? declaredHtmlCharset(bytes) : null);
      this.#add(decodeText(bytes, charset, this.#isAtStart));
    }
    if (this.#endsInCr) this.#texts.push('\r');
    return this.#texts.join('');
  }

  get #isAtStart(): boolean {
    return this.#texts.length === 0 && !this.#endsInCr;
  }

  #add(text: string): void {
    if (text === '') return;
    const start = this.#utf8 !== null && this.#isAtStart && text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
    const whole = this.#endsInCr ? `\r${text}` : text;
    this.#endsInCr = whole.endsWith('\r');
    const known = whole.slice(start, this.#endsInCr ? -1 : undefined);
    if (known !== '') this.#texts.push(known.replaceAll('\r\n', '\n'));
  }
}

const BYTE_ORDER_MARK = '\ufeff';
