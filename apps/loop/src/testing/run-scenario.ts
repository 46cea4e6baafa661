import { ModelError } from '@longrein/model';
import { InProcessTools } from '@longrein/tools/memory';
import { type Deployment, LoopFixture } from './loop-fixture.js';
import { type NormalEvent, normalise } from './normalise.js';
import type { ClientStep, ModelLine, Scenario, ToolLine } from './scenario.js';
import { type ScriptedAnswer, ScriptedModel } from './scripted-model.js';
import type { SessionProbe } from './session-probe.js';

/** Plays a scenario in a new session of a deployment and returns what the log holds in the end. */
export async function runScenario(
  deployment: Deployment,
  scenario: Scenario,
  sessionId: string,
): Promise<NormalEvent[]> {
  const stage = new Stage(deployment, scenario);
  return stage.play(sessionId);
}

class Stage {
  readonly #loop: LoopFixture;
  #session!: SessionProbe;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    deployment: Deployment,
    private readonly scenario: Scenario,
  ) {
    const { policy, model, tools = {} } = scenario;
    this.#loop = new LoopFixture({
      deployment,
      model: new ScriptedModel(...model.map((line) => this.#answer(line))),
      tools: this.#tools(tools),
      ...(policy && { policy }),
    });
  }

  async play(sessionId: string): Promise<NormalEvent[]> {
    this.#session = await this.#loop.session(sessionId);
    await this.#loop.start();
    try {
      for (const step of this.scenario.client) await this.#do(step);
    } finally {
      await this.#loop.stop();
    }
    return normalise(await this.#session.events());
  }

  /** One after the other, whoever asks: what two tools do meanwhile has one order. */
  #all(steps: readonly ClientStep[]): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      for (const step of steps) await this.#do(step);
    });
    return this.#queue;
  }

  async #do(step: ClientStep): Promise<void> {
    const session = this.#session;
    if ('inject' in step) {
      const { text, wake = true, grant } = step.inject;
      await session.inject(text, { wake, ...(grant && { grant }) });
    } else if ('cancel' in step) {
      await session.cancel(step.cancel);
    } else if ('append' in step) {
      await session.append(step.append.service, step.append.type, step.append.payload);
    } else if ('until' in step) {
      await session.until(step.until.type, step.until.count);
    } else if ('resolve' in step) {
      const { call_id, ...verdict } = step.resolve;
      const { turn } = await session.state();
      const request = turn?.approvals.find((candidate) => candidate.call_id === call_id && !candidate.verdict);
      if (!request) throw new Error(`nothing asks about ${call_id}`);
      const { request_seq } = request;
      await session.append('approvals', 'approval/resolved', { call_id, request_seq, ...verdict });
    } else {
      if (step.restart === 'crash') this.#loop.crash();
      else await this.#loop.stop();
      await this.#loop.start();
    }
  }

  #answer({ text, calls, usage, meanwhile, fails, hangs }: ModelLine): ScriptedAnswer {
    return {
      ...(text && { text }),
      ...(calls && { calls }),
      ...(usage && { usage }),
      ...(fails !== undefined && { error: new ModelError('invalid_request', fails, false) }),
      during: async (signal) => {
        if (meanwhile) await this.#all(meanwhile);
        if (hangs) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    };
  }

  #tools(lines: Readonly<Record<string, ToolLine>>): InProcessTools {
    const tools = new InProcessTools();
    for (const [name, { meanwhile, returns, fails, ...traits }] of Object.entries(lines)) {
      let first = true;
      const definition = { name, description: `The tool ${name}.`, input_schema: { type: 'object' }, ...traits };
      tools.add(definition, (async (args: unknown) => {
        if (meanwhile && first) {
          first = false;
          await this.#all(meanwhile);
        }
        if (fails !== undefined) throw new Error(fails);
        return returns === undefined ? args : returns;
      }) as never);
    }
    return tools;
  }
}
