/** Injection tokens that every service's module can use. */

/** `NatsConnection` of the service. */
export const NATS = Symbol('NATS');
/** pino `Logger` of the service. */
export const LOGGER = Symbol('LOGGER');
/** `Health` of the service. */
export const HEALTH = Symbol('HEALTH');
/** prom-client `Registry` of the service. */
export const METRICS = Symbol('METRICS');
/** `JsonService`: the service's request subjects. */
export const RPC = Symbol('RPC');
/** The app's config object. */
export const CONFIG = Symbol('CONFIG');
/** `Identity`: service and instance. */
export const IDENTITY = Symbol('IDENTITY');
