/**
 * A bare ASCII email address: at most 254 characters, local part at most 64, a dot-atom before the `@` and
 * a domain of letters, digits and hyphens after it (RFC 5321 section 4.1.2, RFC 5322 section 3.4.1).
 */
const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const ADDRESS = new RegExp(`^${ATEXT}+(?:\\.${ATEXT}+)*@${LABEL}(?:\\.${LABEL})*$`);

export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && text.lastIndexOf('@') <= 64 && ADDRESS.test(text);
}
