export { ConnectionWatch, type ConnectionListener } from './connection-watch.js';
export { awaitDeployment, type AwaitDeploymentOptions } from './deployment.js';
export { DEFAULT_FOLLOW, type FollowLimits } from './follower.js';
export { DOCUMENTS_BUCKET, type DocumentStoreOptions, KvDocumentStore } from './kv-document-store.js';
export { LiveHub, type LiveListener } from './live-hub.js';
export { LogClient, type LogClientOptions } from './log-client.js';
export { type ConsumeLimits, DEFAULT_CONSUME } from './partition-consumer.js';
export { DEFAULT_RETRY, type RetryPolicy } from './requester.js';
export { SkippedEvents } from './stream-gap.js';
