import { createHash } from 'node:crypto';

/** The signature under which the server sends a thinking text, and without which it takes none back. */
export function textSignature(text: string): string {
  return `sig_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}
