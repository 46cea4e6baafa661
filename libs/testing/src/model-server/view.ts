/** The two wire formats. */
export type WireFormat = 'openai' | 'anthropic';

/** A request as scripts see it, whichever format it came in. */
export interface RequestView {
  readonly format: WireFormat;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly { readonly name: string; readonly schema: unknown }[];
  /** In order; the results of calls apart from what users say. */
  readonly messages: readonly ViewedMessage[];
}

/** A message as scripts see it. */
export type ViewedMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ViewedCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly text: string };

/** A call as scripts see it. */
export interface ViewedCall {
  readonly id: string;
  readonly name: string;
}

/** Views a body that has passed the strict check. */
export function view(format: WireFormat, body: Body): RequestView {
  const messages = body.messages ?? [];
  return {
    format,
    model: String(body.model),
    system: format === 'anthropic' ? textOf(body.system) : systemOf(messages),
    tools: (body.tools ?? []).map((tool) => ({
      name: tool.function?.name ?? tool.name ?? '',
      schema: tool.function?.parameters ?? tool.input_schema,
    })),
    messages: messages.flatMap((message) => (format === 'anthropic' ? fromBlocks(message) : fromMessage(message))),
  };
}

/** A request's body, as loosely as both formats have in common. */
export interface Body {
  readonly model?: unknown;
  readonly system?: unknown;
  readonly messages?: readonly WireMessage[];
  readonly tools?: readonly {
    name?: string;
    input_schema?: unknown;
    function?: { name: string; parameters: unknown };
  }[];
}

interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { id: string; function: { name: string } }[];
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

function fromMessage(message: WireMessage): ViewedMessage[] {
  const text = textOf(message.content);
  switch (message.role) {
    case 'user':
      return [{ role: 'user', text }];
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(({ id, function: { name } }) => ({ id, name }));
      return [{ role: 'assistant', text, calls }];
    }
    case 'tool':
      return [{ role: 'tool', id: message.tool_call_id ?? '', text }];
    default:
      return [];
  }
}

function fromBlocks({ role, content }: WireMessage): ViewedMessage[] {
  const blocks: Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Block[]);
  const text = textOf(blocks.filter(({ type }) => type === 'text'));
  if (role === 'assistant') {
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id = '', name = '' }) => ({ id, name }));
    return [{ role: 'assistant', text, calls }];
  }
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block): ViewedMessage => ({ role: 'tool', id: block.tool_use_id ?? '', text: textOf(block.content) }));
  return text === '' ? results : [...results, { role: 'user', text }];
}

function systemOf(messages: readonly WireMessage[]): string {
  return messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => textOf(content))
    .join('\n');
}

/** The text of a content field: a string, or blocks with text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as Block[]).map(({ text }) => text ?? '').join('\n');
}
