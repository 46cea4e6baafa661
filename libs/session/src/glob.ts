/**
 * Whether a policy pattern matches a tool name. `*` stands for any run of characters, also none; every other character
 * stands for itself, case included; the pattern must match the whole name. Takes time proportional to pattern times
 * name at worst, whatever the pattern.
 */
export function matchesGlob(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let resume = 0;
  while (n < name.length) {
    // The star first: a name may itself hold one.
    if (pattern[p] === '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.length && pattern[p] === name[n]) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** Whether any of the patterns matches. An empty list matches nothing. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, name));
}
