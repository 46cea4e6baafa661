import type { EventEnvelope } from '@longrein/events';

/** Prints events as lines for people; the pieces of an answer flow into one paragraph. */
export class EventPrinter {
  private inAnswer = false;

  constructor(private readonly write: (text: string) => void) {}

  event(event: EventEnvelope): void {
    if (event.type === 'assistant/chunk') {
      if (!this.inAnswer) this.write(`${label(event)} `);
      this.inAnswer = true;
      this.write((event.payload as { text: string }).text);
      return;
    }
    this.endAnswer();
    this.write(`${label(event)} ${summary(event.payload)}\n`);
  }

  note(text: string): void {
    this.endAnswer();
    this.write(`\n  -- ${text}\n\n`);
  }

  private endAnswer(): void {
    if (this.inAnswer) this.write('\n');
    this.inAnswer = false;
  }
}

function label({ seq, type }: EventEnvelope): string {
  return `${String(seq).padStart(4)}  ${type.padEnd(20)}`;
}

function summary(payload: unknown): string {
  const text = JSON.stringify(payload) ?? '';
  return text.length > 110 ? `${text.slice(0, 110)}…` : text;
}
