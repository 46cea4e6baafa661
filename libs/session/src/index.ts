export * from './decisions/types.js';
export * from './folds/state.js';
