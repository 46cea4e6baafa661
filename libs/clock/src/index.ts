export type { Cancel, Clock } from './clock.js';
export { sleepOn } from './sleep.js';
export { systemClock } from './system-clock.js';
