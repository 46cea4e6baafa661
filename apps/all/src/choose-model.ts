import { ConfigError, type Environment } from '@longrein/service';
import { demoModel, ModelServer } from '@longrein/testing/model-server';

/** The model a system talks to. */
export interface ChosenModel {
  /** `provider/model` of the main role. */
  readonly spec: string;
  /** Variables that configure its provider. */
  readonly env: Environment;
  /** For people: what answers. */
  readonly description: string;
  stop(): Promise<void>;
}

/** Models taken when a key is set and nothing says which. */
const ANTHROPIC_MODEL = 'claude-sonnet-5-5';
const OPENAI_MODEL = 'gpt-5.4';

/** Pause before each word of the scripted model, for human eyes. */
const PACE_MS = 40;

/**
 * The model of an environment: `LONGREIN_MODEL` if set, else a usual model of the provider whose key or address is
 * set; with none, a scripted model server of this process's own.
 */
export async function chooseModel(env: Environment): Promise<ChosenModel> {
  const set = (name: string): string | undefined => env[name]?.trim() || undefined;
  const named = set('LONGREIN_MODEL');
  if (named) return real(named, 'named by LONGREIN_MODEL');
  if (set('ANTHROPIC_API_KEY')) return real(`anthropic/${ANTHROPIC_MODEL}`, 'ANTHROPIC_API_KEY is set');
  const baseUrl = set('OPENAI_BASE_URL');
  if (baseUrl) {
    const model = await firstModel(baseUrl, set('OPENAI_API_KEY'));
    return real(`openai/${model}`, `OPENAI_BASE_URL is ${baseUrl}`);
  }
  if (set('OPENAI_API_KEY')) return real(`openai/${OPENAI_MODEL}`, 'OPENAI_API_KEY is set');
  if (set('LONGREIN_PROVIDERS')) {
    throw new ConfigError(['LONGREIN_MODEL is missing while LONGREIN_PROVIDERS is set; set it to provider/model']);
  }
  return scripted();
}

function real(spec: string, why: string): ChosenModel {
  return { spec, env: {}, description: `${spec} (${why})`, stop: () => Promise.resolve() };
}

async function scripted(): Promise<ChosenModel> {
  const server = await ModelServer.start({ script: demoModel({ pace_ms: PACE_MS }) });
  const provider = { kind: 'openai', base_url: server.openAiUrl, api_key: 'scripted' };
  return {
    spec: 'scripted/demo',
    env: { LONGREIN_PROVIDERS: JSON.stringify({ scripted: provider }) },
    description:
      'a scripted model: no real one is configured; set ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL for one',
    stop: () => server.stop(),
  };
}

/** Servers that speak OpenAI's protocol list their models; the first one listed is taken. */
async function firstModel(baseUrl: string, key: string | undefined): Promise<string> {
  const url = `${baseUrl.replace(/\/+$/, '')}/models`;
  const advice = 'set LONGREIN_MODEL, e.g. LONGREIN_MODEL=openai/<name of the model>';
  let listed: unknown;
  try {
    const response = await fetch(url, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    listed = await response.json();
  } catch (error) {
    const { cause, message } = error as Error;
    const why = cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
    throw new ConfigError([`${url} does not tell which models there are (${why}); ${advice}`], {
      cause: error,
    });
  }
  const { data } = listed as { data?: readonly { id?: unknown }[] };
  const id = data?.[0]?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new ConfigError([`${url} lists no models; ${advice}`]);
}
