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
