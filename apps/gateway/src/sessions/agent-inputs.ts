/** A waking input for a session that belongs to an agent. */
export interface AgentInput {
  readonly session_id: string;
  readonly input_id: string;
  readonly text: string;
}

/** Port to the service that decides whether such an input starts a turn. Rejects with `FrameError`. */
export interface AgentInputs {
  inject(input: AgentInput): Promise<void>;
}
