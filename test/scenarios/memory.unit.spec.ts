import { describe, expect, it } from '@jest/globals';
import { MemoryDeployment, runScenario } from '@longrein/loop-app/testing';
import { scenarios } from './catalogue.js';

describe('a scenario on the log in memory', () => {
  it.each(scenarios.map((scenario) => [`${scenario.cases.join(' ')} ${scenario.name}`, scenario] as const))(
    '%s',
    async (_, scenario) => {
      const events = await runScenario(new MemoryDeployment(), scenario, 'scenario');
      expect(await runScenario(new MemoryDeployment(), scenario, 'scenario')).toEqual(events);
      expect(events).toMatchSnapshot();
    },
  );
});
