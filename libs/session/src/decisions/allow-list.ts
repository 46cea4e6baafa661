import { policy } from '../folds/selectors.js';
import type { SessionState } from '../folds/state.js';
import { matchesAny } from '../glob.js';
import type { Deployment } from './types.js';

/** Whether a tool may be called now, and the patterns that say so. */
export interface Permission {
  readonly allowed: boolean;
  /** Null where nobody set an allow list: every tool is allowed. */
  readonly patterns: readonly string[] | null;
  readonly source: 'updated' | 'spec' | 'deployment' | 'none';
}

/**
 * The policy in force for a tool name: the last `policy/updated`, else the floor of the session's spec, else the
 * deployment's. An empty list denies everything, the absence of any allows everything. The overlay of the open turn's
 * grant allows in addition, for that turn alone.
 */
export function permission(state: SessionState, name: string, deployment: Deployment = {}): Permission {
  const own = policy(state);
  const patterns = own?.patterns ?? deployment.policy ?? null;
  const source = own?.source ?? (deployment.policy === undefined ? 'none' : 'deployment');
  const allowed =
    patterns === null || matchesAny(patterns, name) || matchesAny(overlayPatterns(state.turn?.grant?.overlay), name);
  return { allowed, patterns, source };
}

/** Patterns of a grant's overlay: a list of them, or an object that has them as `policy`. Anything else allows nothing. */
export function overlayPatterns(overlay: unknown): readonly string[] {
  const list =
    typeof overlay === 'object' && overlay !== null && 'policy' in overlay ? (overlay.policy as unknown) : overlay;
  return Array.isArray(list) ? list.filter((pattern): pattern is string => typeof pattern === 'string') : [];
}
