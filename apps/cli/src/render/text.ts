/** Longest value shown in one line of readable output, in characters. */
const LONGEST = 240;

/**
 * Text of models, tools and people as a terminal may be given it: without control characters, which could rewrite the
 * screen or worse. Line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/(?![\n\t])\p{Cc}/gu, '');
}

/** A value in one line. */
export function oneLine(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const line = printable(text).replaceAll(/\s*\n\s*/g, ' ⏎ ');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
