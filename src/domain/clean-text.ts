/** Line breaks and tabs, which separate words. */
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/**
 * C0 and C1 controls, DEL, and the explicit bidirectional controls (UAX 9 section 2), which reorder what
 * stands around a value: an address or a file name would read as another one.
 */
const controls = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const suspicious = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Text made safe to show and to carry on: no line break, no control, no white space around it. */
export function cleanText(text: string): string {
  return (suspicious.test(text) ? text.replace(breaks, ' ').replace(controls, '') : text).trim();
}
