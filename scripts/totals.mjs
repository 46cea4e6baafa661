// Prints the totals of a jest run from its JSON results, as `N passed, N failed`. What is neither (a file that could not
// be loaded, a skipped test) is told on stderr, and a run that jest does not call a success ends with code 1.
import { readFileSync } from 'node:fs';

const results = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites, success } = results;
if (numRuntimeErrorTestSuites > 0) console.error(`${numRuntimeErrorTestSuites} test files could not be run`);
if (numPendingTests > 0) console.error(`${numPendingTests} tests were skipped`);
console.log(`${numPassedTests} passed, ${numFailedTests} failed`);
process.exitCode = success ? 0 : 1;
