/**
 * Where an agent is found by its recorded name: for handoffs, and to go on with runs.
 *
 * @since 0.1.0
 */
import type { Agent } from "./Agent.ts"

/**
 * Several agents, in place of one wherever a run goes on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agents<out E, out R, out A> {
  readonly all: ReadonlyArray<Agent<E, R, A>>
}

/**
 * One agent, or several.
 *
 * @category models
 * @since 0.1.0
 */
export type Source<E, R, A> = Agent<E, R, A> | Agents<E, R, A>

/**
 * Gathers agents. Two of one name are a defect.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const S extends ReadonlyArray<Agent<unknown, unknown, unknown>>>(
  ...agents: S
): Agents<ErrorOf<S[number]>, ServicesOf<S[number]>, AnswerOf<S[number]>> => {
  const names = agents.map(({ name }) => name)
  const repeated = names.find((name, i) => names.indexOf(name) !== i)
  if (repeated !== undefined) throw new RangeError(`two agents have the name ${repeated}`)
  // The compiler does not see that a tuple of agents is an array of what they have in common.
  return {
    all: agents as ReadonlyArray<Agent<unknown, unknown, unknown>> as Agents<
      ErrorOf<S[number]>,
      ServicesOf<S[number]>,
      AnswerOf<S[number]>
    >["all"]
  }
}

/**
 * The agent of a name; undefined when there is none.
 *
 * @category reading
 * @since 0.1.0
 */
export const find = <E, R, A>(source: Source<E, R, A>, name: string): Agent<E, R, A> | undefined =>
  all(source).find((agent) => agent.name === name)

/**
 * @category reading
 * @since 0.1.0
 */
export const all = <E, R, A>(source: Source<E, R, A>): ReadonlyArray<Agent<E, R, A>> =>
  "all" in source ? source.all : [source]

// --- internal ---

type ErrorOf<S> = S extends Agent<infer E, infer _R, infer _A> ? E : never
type ServicesOf<S> = S extends Agent<infer _E, infer R, infer _A> ? R : never
type AnswerOf<S> = S extends Agent<infer _E, infer _R, infer A> ? A : never
