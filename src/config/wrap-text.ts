/** Breaks a text into lines of at most `width` characters, each after `prefix`. Words stay whole. */
export function wrapText(text: string, prefix: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > width) {
      lines.push(prefix + line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, prefix + line];
}
