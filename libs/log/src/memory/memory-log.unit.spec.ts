import { describeEventLog } from '../contract/index.js';
import { MemoryLog } from './memory-log.js';

describeEventLog('the log in memory', {
  runs: 100,
  async open(options) {
    const log = new MemoryLog(options);
    return {
      partitions: log.partitions,
      as: log.as.bind(log) as MemoryLog['as'],
      async restartOwner() {
        log.restartOwner();
      },
      async storePrefix({ service, id, request }, count) {
        log.faults.failNextAppend({ at: count });
        await log
          .as(service)
          .append(id, request)
          .catch(() => undefined);
        log.restartOwner();
      },
      async close() {},
    };
  },
});
