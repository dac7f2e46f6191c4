import { BYTE } from '../../lib/bytes.js';

const { LF, CR } = BYTE;

/** Where lines stand in a message that arrives in pieces: offsets of bytes from its start. */
export class LinePositions {
  #piece: Buffer = Buffer.alloc(0);
  /** Offset of the piece. */
  #pieceStart = 0;
  #lastOfPieceBefore = 0;
  #start = 0;
  #textEndBefore = 0;
  #textEnd = 0;
  #end = 0;

  /** Takes the next piece, before its lines. */
  takePiece(piece: Buffer): void {
    this.#lastOfPieceBefore = this.#piece.at(-1) ?? 0;
    this.#pieceStart += this.#piece.length;
    this.#piece = piece;
  }

  /**
   * Takes the next line.
   * @param lastBytes a view of the piece that ends where the line ends, of whatever length; false for what the message
   * has after its last line end
   */
  takeLine(lastBytes: Buffer | false): void {
    this.#start = this.#end;
    this.#textEndBefore = this.#textEnd;
    const end =
      lastBytes === false
        ? this.#piece.length
        : lastBytes.byteOffset - this.#piece.byteOffset + lastBytes.length;
    this.#end = this.#pieceStart + end;
    this.#textEnd = this.#end - this.#lineEndBefore(end);
  }

  /** Of the line taken last, its first byte. */
  get start(): number {
    return this.#start;
  }

  /** After the line taken last, its line end included. */
  get end(): number {
    return this.#end;
  }

  /** After the line before that one, its line end not included. */
  get textEndBefore(): number {
    return this.#textEndBefore;
  }

  /** The length of the line end that is directly before `at` in the piece. */
  #lineEndBefore(at: number): number {
    if (at === 0 || this.#piece[at - 1] !== LF) return 0;
    const before = at === 1 ? this.#lastOfPieceBefore : this.#piece[at - 2];
    return before === CR ? 2 : 1;
  }
}
