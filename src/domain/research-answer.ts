/** Longest answer, in UTF-16 code units after trimming (specification, Signup and claims rule 3). */
const MAX_UNITS = 500;

/**
 * What a claimer says about how it came here or what for, in plain text. Whatever is no such text is no answer: it
 * never stands in the way of a claim.
 */
export function readResearchAnswer(value: unknown): string | null {
  if (typeof value !== 'string' || !value.isWellFormed()) return null;
  const answer = value.trim();
  return answer === '' || answer.length > MAX_UNITS ? null : answer;
}
