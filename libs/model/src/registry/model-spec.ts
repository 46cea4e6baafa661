import { ModelError } from '../errors.js';

/** A model's name in its two parts. */
export interface ModelSpec {
  readonly provider: string;
  readonly model: string;
}

/** Splits `provider/model` at the first slash: the model's own name may hold more. */
export function parseModelSpec(spec: string): ModelSpec {
  const match = /^([A-Za-z0-9_-]+)\/(\S+)$/.exec(spec);
  if (!match) {
    const shown = JSON.stringify(spec.slice(0, 200));
    throw new ModelError('invalid_model', `${shown} is not a model; write provider/model`, false);
  }
  return { provider: match[1]!, model: match[2]! };
}
