import { escapeHtml } from './escape-html.js';

/*
 * The line that names the service behind every message it sends, quoted history included (specification,
 * Sending rule 3; decisions, Sending, Attribution).
 */

/** The line, where the configuration gives no other one. */
export function attributionLine(serviceName: string): string {
  return `Sent via ${serviceName}`;
}

/** Text with a blank line and the line behind it. */
export function attributeText(text: string, line: string): string {
  const lineEnd = text === '' || /[\r\n]$/.test(text) ? '' : '\n';
  return `${text}${lineEnd}\n${line}`;
}

/** HTML with the line as a paragraph before the last `</body>`, or at its end where there is none. */
export function attributeHtml(html: string, line: string): string {
  const at = lastBodyEnd(html);
  return `${html.slice(0, at)}<p>${escapeHtml(line)}</p>\n${html.slice(at)}`;
}

/** The last one in the document, whatever it stands in: looking from the end costs next to nothing. */
function lastBodyEnd(html: string): number {
  for (let at = html.length; at > 0; ) {
    at = html.lastIndexOf('</', at - 1);
    if (at < 0) break;
    if (/^<\/body[\s/>]/i.test(html.slice(at, at + '</body>'.length))) return at;
  }
  return html.length;
}
