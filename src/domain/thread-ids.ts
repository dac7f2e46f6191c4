/**
 * The Message-IDs in a header value (RFC 5322 section 3.6.4), without brackets. Phrases, comments and quoted
 * strings between them are no ids (section 4.5.4); a value without any bracket gives its words that look
 * like one. Of more than `limit` the last are kept.
 */
export function messageIdsIn(text: string, limit: number): readonly string[] {
  const ids = bracketedIdsIn(text);
  const found =
    ids.length > 0 ? ids : text.split(/[\s,;]+/).filter(word => /^[^@<>"()]+@[^@<>"()]+$/.test(word));
  return found.slice(-limit);
}

/** The ids in angle brackets alone. */
export function bracketedIdsIn(text: string): readonly string[] {
  const ids: string[] = [];
  let hasOpenQuote = false;
  let hasOpenComment = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"' && !hasOpenQuote) {
      const end = quoteEnd(text, i);
      if (end < 0) hasOpenQuote = true;
      else i = end;
    } else if (char === '(' && !hasOpenComment) {
      const end = commentEnd(text, i);
      if (end < 0) hasOpenComment = true;
      else i = end;
    } else if (char === '<') {
      const end = text.indexOf('>', i);
      if (end < 0) break;
      // The last bracket before the end is the one that counts; folding may have left white space inside.
      const id = text.slice(text.lastIndexOf('<', end) + 1, end).replace(/\s+/g, '');
      if (id !== '') ids.push(id);
      i = end;
    }
  }
  return ids;
}

function quoteEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i;
  }
  return -1;
}

function commentEnd(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i;
  }
  return -1;
}
