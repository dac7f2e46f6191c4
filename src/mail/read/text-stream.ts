import { isAscii } from 'node:buffer';
import { StringDecoder } from 'node:string_decoder';
import { piecesOfText } from '../../lib/slices.js';
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
  #hasBegun = false;
  #endsInCr = false;

  /** @param charset as the header of the part names it; HTML without one may declare its own */
  constructor(charset: string | null, isHtml: boolean) {
    this.#charset = charset;
    this.#isHtml = isHtml;
    const meaning = meaningOfBytes(charset);
    this.#utf8 = meaning === 'utf8' ? new StringDecoder('utf8') : null;
    this.#isAsciiPlain = meaning === 'ascii' && !(isHtml && charset === null);
  }

  /** Takes the next bytes; the caller leaves them as they are. */
  write(bytes: Buffer): void {
    const isPlain = this.#isAsciiPlain && this.#undecoded.length === 0 && isAscii(bytes);
    if (this.#utf8 !== null) this.#add(this.#utf8.write(bytes));
    else if (isPlain) this.#add(bytes.toString('latin1'));
    else this.#undecoded.push(bytes);
  }

  /** The whole text. */
  end(): string {
    if (this.#utf8 !== null) this.#add(this.#utf8.end());
    if (this.#undecoded.length > 0) {
      const bytes = Buffer.concat(this.#undecoded.splice(0));
      const charset = this.#charset ?? (this.#isHtml ? declaredHtmlCharset(bytes) : null);
      this.#add(decodeText(bytes, charset, !this.#hasBegun));
    }
    if (this.#endsInCr) this.#texts.push('\r');
    return this.#texts.join('');
  }

  /** In pieces: a text of nothing but line ends has as many lines as bytes. */
  #add(text: string): void {
    for (const piece of piecesOfText(text)) this.#addPiece(piece);
  }

  #addPiece(text: string): void {
    const isMarked = this.#utf8 !== null && !this.#hasBegun && text.startsWith(BYTE_ORDER_MARK);
    this.#hasBegun = true;
    const whole = this.#endsInCr ? `\r${text}` : text;
    this.#endsInCr = whole.endsWith('\r');
    const known = whole.slice(isMarked ? 1 : 0, this.#endsInCr ? -1 : undefined);
    // Not by replacing, which gives a rope of slices: they hold the text as it was before.
    if (known !== '') this.#texts.push(known.split('\r\n').join('\n'));
  }
}

const BYTE_ORDER_MARK = '\ufeff';
