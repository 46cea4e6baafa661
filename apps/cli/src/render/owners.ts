import type { PartitionOwnership } from '@longrein/log/client';
import { oneLine } from './text.js';

/** A table for people: who has each partition. */
export function renderOwners(owners: readonly PartitionOwnership[]): string {
  const rows = [['partition', 'scope', 'streams', 'replica', 'epoch']];
  for (const { partition, scope, kind, replica, epoch } of owners) {
    rows.push([String(partition), scope, kind, replica === null ? '-' : oneLine(replica), String(epoch ?? '-')]);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}
