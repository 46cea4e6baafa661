import { collectDefaultMetrics, Registry } from 'prom-client';

let processMetrics: Registry | undefined;

/** Metrics of the process (memory, event loop, garbage collection): one registry however many services share it. */
function ofProcess(): Registry {
  if (processMetrics) return processMetrics;
  processMetrics = new Registry();
  collectDefaultMetrics({ register: processMetrics });
  return processMetrics;
}

/** A service's own registry; every sample carries the service's name. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  return registry;
}

/** The service's samples and those of its process, in the Prometheus text format. */
export async function exposition(registry: Registry): Promise<{ contentType: string; text: string }> {
  const parts = await Promise.all([registry.metrics(), ofProcess().metrics()]);
  return { contentType: registry.contentType, text: parts.join('\n') };
}
