import { writtenText } from './header-fields.js';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** The North American zones of RFC 5322 section 4.3 in hours from UTC. */
const hoursOfZone: ReadonlyMap<string, number> = new Map([
  ['edt', -4],
  ['est', -5],
  ['cdt', -5],
  ['cst', -6],
  ['mdt', -6],
  ['mst', -7],
  ['pdt', -7],
  ['pst', -8],
]);

const clock = String.raw`(?<hour>\d{1,2})\s*:\s*(?<minute>\d{1,2})(?:\s*:\s*(?<second>\d{1,2})(?:\.\d+)?)?`;
const weekday = String.raw`(?:[a-z]{3,9}\.?\s*,?\s*)?`;
const zone = String.raw`\s*(?<zone>[a-z]{1,9}|(?:(?:gmt|utc?)\s*)?[+-]\d{2}:?\d{2})?`;

/** RFC 5322 section 3.3 with the obsolete forms of section 4.3, and with hyphens, which some servers write. */
const rfc5322 = new RegExp(
  String.raw`^${weekday}(?<day>\d{1,2})[\s-]+(?<month>[a-z]{3})[a-z]*\.?[\s-]+(?<year>\d{2,4}),?\s+${clock}${zone}$`,
  'i',
);
/** The form of C's `ctime`, optionally with a zone before the year. */
const ctime = new RegExp(
  String.raw`^[a-z]{3},?\s+(?<month>[a-z]{3})\s+(?<day>\d{1,2})\s+${clock}(?:\s+(?<zone>[a-z]{1,9}|[+-]\d{4}))?\s+(?<year>\d{4})$`,
  'i',
);
/** ISO 8601, in the form of RFC 3339. */
const iso = new RegExp(String.raw`^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})[t\s]+${clock}${zone}$`, 'i');

/** A date is short; a longer value is not parsed. */
const LONGEST_DATE = 200;

/** ISO 8601 in UTC when the Date header can be parsed, else the header text; null when it is empty or absent. */
export function messageDate(raw: string | null): string | null {
  if (raw === null) return null;
  const written = writtenText(raw);
  if (written === '') return null;
  return (written.length <= LONGEST_DATE ? parseDate(written) : null) ?? written;
}

function parseDate(written: string): string | null {
  const bare = withoutComments(written).replace(/\s+/g, ' ').trim();
  const groups = (rfc5322.exec(bare) ?? ctime.exec(bare) ?? iso.exec(bare))?.groups;
  if (groups === undefined) return null;
  const {
    year = '',
    month = '',
    day = '',
    hour = '',
    minute = '',
    second = '0',
    zone: zoneName = '',
  } = groups;
  const monthNumber = /^\d/.test(month) ? Number(month) : months.indexOf(month.toLowerCase()) + 1;
  const offset = zoneMinutes(zoneName.toLowerCase());
  if (offset === null) return null;
  const fields = [
    fullYear(year),
    monthNumber,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  ] as const;
  return isoInstant(fields, offset);
}

function isoInstant(
  [year, month, day, hour, minute, second]: readonly [number, number, number, number, number, number],
  offsetMinutes: number,
): string | null {
  // Second 60 is a leap second (RFC 5322 section 3.3) and becomes the next minute.
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 60) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // Day 31 of a shorter month has become a day of the next month.
  if (date.getUTCDate() !== day || date.getUTCMonth() !== month - 1) return null;
  date.setUTCHours(hour, minute - offsetMinutes, second);
  const text = date.toISOString();
  // A year of more than four digits would begin with a sign.
  return /^\d/.test(text) ? text : null;
}

/** Years of two and three digits as in RFC 5322 section 4.3. */
function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length === 2) return year < 50 ? 2000 + year : 1900 + year;
  return digits.length === 3 ? 1900 + year : year;
}

/** Minutes east of UTC; null when invalid. A missing or unknown zone counts as -0000 (RFC 5322 section 4.3). */
function zoneMinutes(name: string): number | null {
  const offset = /([+-])(\d{2}):?(\d{2})$/.exec(name);
  if (offset === null) return (hoursOfZone.get(name) ?? 0) * 60;
  const minutes = Number(offset[3]);
  if (minutes > 59) return null;
  return (Number(offset[2]) * 60 + minutes) * (offset[1] === '-' ? -1 : 1);
}

/** Comments, nested ones too, become white space: they may stand between any two tokens (RFC 5322 section 3.2.2). */
function withoutComments(text: string): string {
  if (!text.includes('(')) return text;
  let out = '';
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    if (char === '\\' && depth > 0) i++;
    else if (char === '(') depth++;
    else if (char === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0) out += char;
    if (char === ')' && depth === 0) out += ' ';
  }
  return out;
}
