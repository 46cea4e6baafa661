import type { ActorEnd } from './actor-deps.js';

/** What a pass through an actor's loop came to: go on at once, wait for something to happen, or end the actor. */
export type Step = 'again' | 'wait' | ActorEnd;

/** Ends that something new to see would have prevented. */
export const AT_REST: ReadonlySet<Step> = new Set<Step>(['idle', 'parked', 'stalled', 'failed']);
