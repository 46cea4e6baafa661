import type { WireError } from './service-error.js';

/** Counters of one endpoint, as the NATS service protocol reports them. Times in nanoseconds. */
export class EndpointStats {
  requests = 0;
  errors = 0;
  processingTime = 0;
  lastError = '';

  add(nanoseconds: number, error?: WireError): void {
    this.requests++;
    this.processingTime += nanoseconds;
    if (!error) return;
    this.errors++;
    this.lastError = `${error.code}: ${error.message}`;
  }

  get averageProcessingTime(): number {
    return this.requests === 0 ? 0 : Math.round(this.processingTime / this.requests);
  }
}
