/** Deltas of text in each of the model's answers. */
export const TEXT_DELTAS = 20;

/** The tool that the model calls once in every turn. */
export const TOOL = 'work';

/** What a user says. */
export const QUESTION = 'Please look at the failing build and say what you saw.';
