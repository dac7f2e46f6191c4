import {
  endsInColon,
  hasEarlyColon,
  isColon,
  isDash,
  isDivider,
  isFooter,
  isForwardTitle,
  isOriginalTitle,
  leadIn,
  MAX_LINE,
  type RepeatedField,
  repeatedField,
} from './phrases.js';

/** A part of a text, in UTF-16 units: from `start` up to but not including `end`. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** Lines between two pauses. */
const STEPS = 1_000;

/**
 * The new words of a message: its text without the mail that it quotes, without signatures, and without what programs
 * write around these. Mail that is passed on as such is no quote: from there on all is new. In doubt a line counts as
 * new: an agent that reads too much is better off than one that misses something. It takes linear time and yields after
 * each short piece of work.
 * @param text lines end in LF
 * @param isForward the subject says that the message passes another on
 * @returns the parts that are new, in order; those of answers between quotes are several
 */
export function* newWordsOf(text: string, isForward: boolean): Generator<void, readonly Part[]> {
  const lines = yield* Lines.of(text);
  for (let line = 0; line < lines.count; line++) {
    if (line % STEPS === STEPS - 1) yield;
    if (lines.isTold(line, isForward)) break;
  }
  return yield* lines.parts();
}

const BLANK = 0;
const QUOTED = 1;
const WRITTEN = 2;

const ANSWERS = [undefined, null, 'from', 'sent', 'to', 'cc', 'subject'] as const;

/** Lines that a lead-in is broken into, at most. */
const LEAD_IN_LINES = 4;
/** Lines within which the repeated fields of other mail stand; long ones are folded. */
const FIELD_LINES = 14;
/** A dash that is not quite the mark of a signature is taken for one before so few lines. */
const SIGNATURE_LINES = 10;
/** Footers of programs, one under the other. */
const FOOTERS = 3;

class Lines {
  readonly count: number;
  readonly #text: string;
  /** Where each line starts, and where the text ends. */
  readonly #starts: Uint32Array;
  readonly #kinds: Uint8Array;
  /** 1 for each line that is new. */
  readonly #kept: Uint8Array;
  /** Which field of other mail each line repeats, where that was asked: a place in `ANSWERS`; 0 where it was not. */
  readonly #fields: Uint8Array;
  #isInSignature = false;
  #hasWords = false;

  private constructor(text: string, count: number) {
    this.#text = text;
    this.count = count;
    this.#starts = new Uint32Array(count + 1);
    this.#kinds = new Uint8Array(count);
    this.#kept = new Uint8Array(count);
    this.#fields = new Uint8Array(count);
  }

  static *of(text: string): Generator<void, Lines> {
    let count = 1;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      if (++count % STEPS === 0) yield;
    }
    const lines = new Lines(text, count);
    let start = 0;
    for (let line = 0; line < count; line++) {
      if (line % STEPS === STEPS - 1) yield;
      const found = text.indexOf('\n', start);
      const end = found < 0 ? text.length : found;
      lines.#starts[line] = start;
      lines.#kinds[line] = kindOf(text, start, end);
      start = end + 1;
    }
    lines.#starts[count] = text.length;
    return lines;
  }

  /** Decides on a line; true when that decides on all after it too. */
  isTold(line: number, isForward: boolean): boolean {
    const kind = this.#kinds[line];
    if (kind === QUOTED) return this.#quote(line);
    if (kind === WRITTEN && this.#mayBeOfProgram(line)) {
      const written = this.#written(line);
      if (isForwardTitle(written)) return this.#keepRest(line);
      if (isOriginalTitle(written)) return this.#cut(line);
      if (this.#repeatsFields(line)) return isForward ? this.#keepRest(line) : this.#cut(line);
      const leads = endsInColon(written) ? this.#leadInAt(line) : null;
      if (leads === 'cut') return true;
      if (leads === 'quote') return false;
      if (!this.#isInSignature) this.#isInSignature = this.#beginsSignature(line);
    }
    if (kind === WRITTEN && !this.#isInSignature) this.#hasWords = true;
    this.#kept[line] = this.#isInSignature ? 0 : 1;
    return false;
  }

  /** What is kept, without blank lines around it. */
  *parts(): Generator<void, readonly Part[]> {
    const parts: { start: number; end: number }[] = [];
    for (let line = 0; line < this.count; line++) {
      if (line % STEPS === STEPS - 1) yield;
      if (this.#kept[line] === 0) continue;
      let last = line;
      while (this.#kept[last + 1] === 1) if (++last % STEPS === 0) yield;
      const part = this.#part(line, last);
      if (part !== null) parts.push(part);
      line = last;
    }
    const final = parts.at(-1);
    if (final !== undefined)
      final.end = final.start + this.#text.slice(final.start, final.end).trimEnd().length;
    return parts;
  }

  /** A quoted line is not new; but where mail is passed on, some programs mark the whole of it like a quote. */
  #quote(line: number): boolean {
    this.#isInSignature = false;
    const isFirst = this.#kinds[line - 1] !== QUOTED;
    if (isFirst && isForwardTitle(unquoted(this.#written(line)))) return this.#keepRest(line);
    return false;
  }

  #keepRest(line: number): true {
    this.#kept.fill(1, line);
    return true;
  }

  /** Nothing is new from here on, nor the line that divides it from what is. */
  #cut(line: number): true {
    let before = line - 1;
    while (before >= 0 && this.#kinds[before] === BLANK) before--;
    if (before >= 0 && isDivider(this.#written(before))) this.#kept[before] = 0;
    return true;
  }

  /** Sender, subject, and date or recipient of other mail stand here, one below the other. */
  #repeatsFields(line: number): boolean {
    if (this.#fieldOf(line) === null) return false;
    const found = new Set<RepeatedField>();
    let others = 0;
    for (let at = line; at < Math.min(line + FIELD_LINES, this.count) && others <= 3; at++) {
      const field = this.#fieldOf(at);
      if (field === null) others++;
      else {
        found.add(field);
        others = 0;
      }
    }
    return found.has('from') && found.has('subject') && (found.has('sent') || found.has('to'));
  }

  #fieldOf(line: number): RepeatedField | null {
    const known = this.#fields[line] ?? 0;
    if (known !== 0) return ANSWERS[known] ?? null;
    const field = this.#kinds[line] === WRITTEN ? repeatedField(this.#written(line)) : null;
    this.#fields[line] = ANSWERS.indexOf(field);
    return field;
  }

  /** Takes away what leads into a quote, if a line ends that. */
  #leadInAt(line: number): 'quote' | 'cut' | null {
    let first = line;
    let found = leadIn(this.#written(line));
    let joined = this.#written(line);
    for (let at = line - 1; at >= 0 && at > line - LEAD_IN_LINES && found?.isWhole !== true; at--) {
      if (this.#kinds[at] !== WRITTEN) break;
      joined = `${this.#written(at)} ${joined}`;
      if (joined.length > MAX_LINE) break;
      const longer = leadIn(joined);
      // A name may stand before the verb, and other words before the name: those are left as they are.
      if (longer === null || !(longer.isWhole || found === null)) continue;
      found = longer;
      first = at;
    }
    if (found === null) return null;
    let next = line + 1;
    while (next < this.count && this.#kinds[next] === BLANK) next++;
    const isQuoted = this.#kinds[next] === QUOTED;
    if (!isQuoted && !(found.isSure && next < this.count)) return null;
    this.#kept.fill(0, first, line + 1);
    return isQuoted ? 'quote' : 'cut';
  }

  /** `-- ` (RFC 3676 section 4.3); with another dash, or without its space, only at the end of what is new. */
  #beginsSignature(line: number): boolean {
    const start = this.#starts[line] ?? 0;
    const end = this.#starts[line + 1] ?? start;
    if (end - start > 5) return false;
    const mark = this.#text.slice(start, end).replace(/[\r\n]+$/, '');
    if (mark === '-- ') return true;
    if (!this.#hasWords || !/^(?:--|—|–)\s*$/u.test(mark)) return false;
    let below = 0;
    for (let at = line + 1; at < this.count && this.#kinds[at] !== QUOTED; at++) {
      if (this.#kinds[at] === WRITTEN && ++below > SIGNATURE_LINES) return false;
    }
    return true;
  }

  /** Lines that are new, without blank ones around them and footers under them; null when nothing is left. */
  #part(first: number, last: number): { start: number; end: number } | null {
    let from = first;
    let to = last;
    while (from <= to && this.#kinds[from] === BLANK) from++;
    for (let footers = 0; ; footers++) {
      while (to >= from && this.#kinds[to] === BLANK) to--;
      if (to < from) return null;
      if (footers === FOOTERS || !isFooter(this.#written(to))) break;
      to--;
    }
    // One blank line is left between what stood before a quote and what stood after it.
    const end = this.#starts[Math.min(to + (this.#kinds[to + 1] === BLANK ? 2 : 1), this.count)];
    return { start: this.#starts[from] ?? 0, end: end ?? this.#text.length };
  }

  /** Most lines are not of programs: they neither begin with a dash nor have a colon where those would. */
  #mayBeOfProgram(line: number): boolean {
    const text = this.#text;
    let first = this.#starts[line] ?? 0;
    let last = (this.#starts[line + 1] ?? first) - 1;
    while (last > first && isSpace(text.charCodeAt(last))) last--;
    while (first < last && isSpace(text.charCodeAt(first))) first++;
    if (isDash(text.charCodeAt(first)) || isColon(text.charCodeAt(last))) return true;
    return hasEarlyColon(text, first, last);
  }

  /** A line without white space around it, as far as it is looked at. */
  #written(line: number): string {
    const start = this.#starts[line] ?? 0;
    return this.#text.slice(start, Math.min(this.#starts[line + 1] ?? start, start + MAX_LINE)).trim();
  }
}

/** `>`, and the full-width one of Japanese programs. */
function isQuoteMark(unit: number): boolean {
  return unit === 0x3e || unit === 0xff1e;
}

function kindOf(text: string, start: number, end: number): number {
  const limit = Math.min(end, start + MAX_LINE);
  for (let at = start; at < limit; at++) {
    const unit = text.charCodeAt(at);
    if (isQuoteMark(unit)) return QUOTED;
    if (!isSpace(unit)) return WRITTEN;
  }
  return limit < end ? WRITTEN : BLANK;
}

/** White space, and what nobody sees. */
function isSpace(unit: number): boolean {
  return unit <= 0x20 || unit === 0xa0 || unit === 0x3000 || unit === 0x200b || unit === 0xfeff;
}

function unquoted(line: string): string {
  return line.replace(/^[\s>＞]+/u, '');
}
