/**
 * Character references of HTML (HTML, "Named character references"): those of HTML 4, which are what mail
 * has, out of the two thousand that browsers know.
 */

/** In the order of their characters, from U+00A0 on; browsers take these without the semicolon too. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute ' +
  'micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring ' +
  'AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml ' +
  'times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil ' +
  'egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ' +
  'ugrave uacute ucirc uuml yacute thorn yuml';

const MARKUP = { amp: '&', lt: '<', gt: '>', quot: '"', AMP: '&', LT: '<', GT: '>', QUOT: '"' };

/** A name and its character, in turn. */
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

/** What numbers from 128 to 159 mean: the characters of windows-1252 (HTML, "Numeric character reference end state"). */
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

/** Text with its character references replaced; what is none, or is not known, stays as written. */
export function decodeEntities(text: string): string {
  let decoded = '';
  let position = 0;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    REFERENCE.lastIndex = at;
    const match = REFERENCE.exec(text);
    const character = match === null ? null : characterOf(match);
    if (match === null || character === null) continue;
    decoded += text.slice(position, at) + character;
    position = at + match[0].length;
  }
  return position === 0 ? text : decoded + text.slice(position);
}

function characterOf([, hex, decimal, name = '', semicolon]: RegExpExecArray): string | null {
  if (hex !== undefined) return characterOfNumber(Number.parseInt(hex, 16));
  if (decimal !== undefined) return characterOfNumber(Number.parseInt(decimal, 10));
  return legacy.get(name) ?? (semicolon === ';' ? (others.get(name) ?? null) : null);
}

/** No character is U+FFFD, as are the halves of one. */
function characterOfNumber(number: number): string {
  const isCharacter = number > 0 && number <= 0x10ffff && (number < 0xd800 || number > 0xdfff);
  if (!isCharacter) return '\ufffd';
  const isWindows = number >= 0x80 && number <= 0x9f;
  return isWindows ? WINDOWS_1252.charAt(number - 0x80) : String.fromCodePoint(number);
}
