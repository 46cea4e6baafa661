import { Counter, Histogram, type Registry } from 'prom-client';

/** Counts and times requests of a service. */
export interface RpcMetrics {
  observe(endpoint: string, code: string, seconds: number): void;
}

/** Registers the request metrics. One per registry. */
export function rpcMetrics(registry: Registry): RpcMetrics {
  const requests = new Counter({
    name: 'longrein_requests_total',
    help: 'Requests answered, by endpoint and outcome.',
    labelNames: ['endpoint', 'code'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'longrein_request_seconds',
    help: 'Time from taking up a request to its answer.',
    labelNames: ['endpoint'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  return {
    observe: (endpoint, code, seconds) => {
      requests.inc({ endpoint, code });
      duration.observe({ endpoint }, seconds);
    },
  };
}
