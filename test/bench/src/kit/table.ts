import type { Goal, Row } from './bench.js';

const HEAD = ['', 'measured', 'against', 'ratio', 'goal', ''] as const;

/** Rows as aligned text. */
export function table(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Whether a ratio lies where it should. */
export function reached(ratio: number, { least = -Infinity, most = Infinity }: Goal): boolean {
  return ratio >= least && ratio <= most;
}

function cellsOf({ what, value, against = '', ratio, goal }: Row): string[] {
  const verdict = ratio === undefined || !goal ? '' : reached(ratio, goal) ? 'ok' : 'MISSED';
  return [what, value, against, ratio === undefined ? '' : ratio.toFixed(2), goal ? goalText(goal) : '', verdict];
}

function goalText({ least, most }: Goal): string {
  const bounds = [least === undefined ? '' : `>= ${least}`, most === undefined ? '' : `<= ${most}`];
  return bounds.filter(Boolean).join(', ');
}
