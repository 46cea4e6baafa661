import type { Bench } from './kit/bench.js';
import { table } from './kit/table.js';
import { logBench } from './log/index.js';
import { socketsBench } from './sockets/index.js';
import { turnBench } from './turn/index.js';

const BENCHES: readonly Bench[] = [logBench, turnBench, socketsBench];
const USAGE = `usage: npm run bench -- <name> [--quick]\n\n${BENCHES.map(({ name, description }) => `  ${name.padEnd(8)}${description}`).join('\n')}`;

const args = process.argv.slice(2);
const names = args.filter((arg) => arg !== '--quick');
const bench = BENCHES.find(({ name }) => name === names[0]);
if (!bench || names.length !== 1) {
  console.error(names.length === 0 ? USAGE : `no bench is named ${names.join(' ')}\n\n${USAGE}`);
  process.exit(2);
}

const begin = performance.now();
const progress = (what: string): void => {
  console.error(`${((performance.now() - begin) / 1000).toFixed(1).padStart(6)} s  ${what}`);
};
const { conditions, rows, json } = await bench.run({ quick: args.includes('--quick'), progress });
console.log(`${conditions.join('\n')}\n\n${table(rows)}\n`);
console.log(JSON.stringify({ bench: bench.name, ...json }));
