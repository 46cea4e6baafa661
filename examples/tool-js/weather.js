// A tool in JavaScript: asks wttr.in for the weather of a city. Run: node examples/tool-js/weather.js
import { serveTool } from '@longrein/tools/kit';

const tool = await serveTool({
  nats: process.env.NATS_URL ?? 'nats://127.0.0.1:4222',
  name: 'weather',
  description: 'Current weather of a city, in one line.',
  input_schema: { type: 'object', properties: { city: { type: 'string', minLength: 1 } }, required: ['city'] },
  mutating: false,
  concurrency: 'parallel',
  timeout_ms: 10_000,
  async handler({ city }, { signal }) {
    const service = process.env.WEATHER_URL ?? 'https://wttr.in';
    const response = await fetch(`${service}/${encodeURIComponent(city)}?format=3`, { signal });
    if (!response.ok) throw new Error(`the weather service answered ${response.status}`);
    return { city, weather: (await response.text()).trim() };
  },
});
console.log(`${tool.tool.visible_name} is registered and answers; Ctrl-C stops it`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => tool.stop());
