/**
 * What a model is to say, in no protocol yet. Each protocol writes it as its provider would, as a stream or whole,
 * whichever the client asks for.
 */
export type Block =
  | { readonly type: "text"; readonly text: string }
  /** With what the provider wants back: a signature (Anthropic), encrypted content (OpenAI). */
  | { readonly type: "reasoning"; readonly text: string; readonly seal?: string }
  /** Thinking that is not shown (Anthropic). */
  | { readonly type: "redacted"; readonly data: string }
  | { readonly type: "refusal"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly arguments: string }

export interface Turn {
  readonly content: ReadonlyArray<Block>
  readonly stop?: "calls" | "filter" | "length" | "pause" | "stop" | undefined
  readonly usage?: Partial<Usage> | undefined
}

export interface Usage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly reasoning: number
}

export const usageOf = (turn: Turn): Usage => ({
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  ...turn.usage
})

export const stopOf = (turn: Turn): NonNullable<Turn["stop"]> =>
  turn.stop ?? (turn.content.some(({ type }) => type === "call") ? "calls" : "stop")

/** Events of several blocks, taken in turns: the way parallel calls arrive. */
export const interleave = <A>(lists: ReadonlyArray<ReadonlyArray<A>>): Array<A> => {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, n) => lists.flatMap((list) => list.slice(n, n + 1))).flat()
}
