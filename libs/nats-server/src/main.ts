import { availableNatsVersions, resolveTestNatsServer } from './for-tests.js';
import { resolveNatsServer } from './resolve.js';

// `node main.js` prints the server the system would run on, installing it where there is none; `--for-tests` prints the
// versions that tests run on, after providing a current one. One JSON value on stdout, everything else on stderr.
try {
  let found: unknown;
  if (process.argv[2] === '--for-tests') {
    await resolveTestNatsServer();
    found = availableNatsVersions();
  } else {
    found = await resolveNatsServer();
  }
  process.stdout.write(`${JSON.stringify(found)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
