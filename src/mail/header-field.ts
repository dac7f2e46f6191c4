/** RFC 2047 section 2 for lines with encoded words, and within the 78 of RFC 5322 section 2.1.1 for the others. */
export const HEADER_LINE = 76;

const WORD = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * A header field with its line end, folded before whatever does not fit its line (RFC 5322 section 2.2.3).
 * The words of a group stay on one line where that holds them all. There is no fold behind the name: a first
 * line without text has been taken for an empty field.
 *
 * This is the one place where header text is put together: nothing but visible ASCII and single spaces
 * between words gets through, so that no value can end its line and begin another field.
 */
export function headerField(name: string, groups: readonly (readonly string[])[]): string {
  let field = `${name}:`;
  let column = field.length;
  let isFirst = true;
  const add = (text: string): void => {
    const fits = isFirst || column + 1 + text.length <= HEADER_LINE;
    field += fits ? ` ${text}` : `\r\n ${text}`;
    column = fits ? column + 1 + text.length : 1 + text.length;
    isFirst = false;
  };
  for (const group of groups) {
    for (const word of group) if (!WORD.test(word)) throw new Error(`${name}: text that no header may hold`);
    const text = group.join(' ');
    const isWhole = 1 + text.length <= HEADER_LINE && (!isFirst || column + 1 + text.length <= HEADER_LINE);
    if (isWhole) add(text);
    else group.forEach(add);
  }
  return `${field}\r\n`;
}
