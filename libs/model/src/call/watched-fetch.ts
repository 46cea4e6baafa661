import { ModelError } from '../errors.js';

/**
 * `fetch` that tells of every piece of the answer as it arrives, keep-alives included, which the SDKs hide. An answer
 * that is a document and not a stream is an error: the SDKs would find no events in it and say nothing.
 */
export function watchedFetch(activity: () => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    activity();
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const type = headers.get('content-type') ?? '';
    if (response.ok && /^(text\/html|application\/json)/i.test(type)) {
      await response.body.cancel();
      const advice = 'check the base URL, and that the server can stream';
      throw new ModelError('bad_stream', `the answer is ${type}, not an event stream; ${advice}`, false);
    }
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        activity();
        controller.enqueue(piece);
      },
    });
    return new Response(response.body.pipeThrough(watch), { status, statusText, headers });
  };
}
