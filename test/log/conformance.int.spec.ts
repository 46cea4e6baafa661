import { describe } from '@jest/globals';
import { type OpenLog, describeEventLog } from '@longrein/log/contract';
import { availableNatsVersions } from '@longrein/testing';
import { Deployment } from './deployment.js';

describe.each(availableNatsVersions())('on nats-server $version ($name)', ({ path }) => {
  describeEventLog('the log on JetStream', {
    runs: 15,
    open: async ({ partitions, scrubbers }) => {
      const deployment = await Deployment.start({ binary: path, partitions, scrubbers });
      let replica = await deployment.replica();
      const log: OpenLog = {
        partitions,
        as: deployment.as.bind(deployment) as OpenLog['as'],
        restartOwner: async () => {
          await replica.die();
          replica = await deployment.replica();
        },
        storePrefix: async (append, count) => {
          await deployment.storePrefix(replica, append, count);
          replica = await deployment.replica();
        },
        close: () => deployment.close(),
      };
      return log;
    },
  });
});
