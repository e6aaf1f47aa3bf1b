/** Agents by the names that the log has. */
import type { AgentName, ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { UnknownAgent } from "../AgentError.ts"
import type { AgentHost, Delegate } from "../AgentHost.ts"
import * as Agents from "../Agents.ts"
import type * as AiError from "effect/ai/AiError"

/** The host of an agent of this name: one that was given, or one that a given one can hand over to. */
export const hostNamed = Effect.fnUntraced(function* <E, R, A>(
  source: Agents.Source<E, R, A>,
  conversationId: ConversationId,
  name: AgentName
): Effect.fn.Return<AgentHost<E | AiError.AiError>, E | UnknownAgent, R | Scope.Scope> {
  const given = Agents.find(source, name)
  if (given !== undefined) return yield* given.host
  const found = yield* search(hostsOf(source), (host) => (host.name === name ? host : undefined))
  if (found !== undefined) return found
  const names = Agents.all(source).map(({ name }) => name)
  return yield* new UnknownAgent({ conversationId, recorded: name, given: names.join(", ") })
})

/** The tool behind which a background agent of this name stands, of one of these hosts or of one they can hand over to. */
export const backgroundNamed = <E, R>(
  hosts: ReadonlyArray<Effect.Effect<AgentHost<E | AiError.AiError>, E, R>>,
  name: AgentName
): Effect.Effect<Delegate<E | AiError.AiError, never> | undefined, E, R | Scope.Scope> =>
  search(hosts, ({ delegates }) => delegates.find(({ agent, kind }) => kind === "background" && agent === name))

export const hostsOf = <E, R, A>(source: Agents.Source<E, R, A>) => Agents.all(source).map(({ host }) => host)

/** Where a run finds the agents that it is handed over to: those behind the tools of the agents that were at work. */
export const handoffsFrom = <E>(hosts: ReadonlyArray<AgentHost<E>>, scope: Scope.Scope) => {
  const known = new Map<AgentName, AgentHost<E>>(hosts.map((host) => [host.name, host]))
  return (name: AgentName): Effect.Effect<AgentHost<E>, E> | undefined => {
    const host = known.get(name)
    if (host !== undefined) return Effect.succeed(host)
    for (const { delegates } of known.values()) {
      const delegate = delegates.find(({ agent, kind }) => kind === "handoff" && agent === name)
      if (delegate === undefined) continue
      return Effect.tap(Scope.provide(delegate.host, scope), (host) => Effect.sync(() => known.set(name, host)))
    }
    return undefined
  }
}

// --- internal ---

/** Looks at hosts in turn, and then at those that they can hand over to, each once; makes no more of them than it must. */
const search = Effect.fnUntraced(function* <E, R, B>(
  hosts: ReadonlyArray<Effect.Effect<AgentHost<E | AiError.AiError>, E, R>>,
  pick: (host: AgentHost<E | AiError.AiError>) => B | undefined
): Effect.fn.Return<B | undefined, E, R | Scope.Scope> {
  const waiting: Array<Effect.Effect<AgentHost<E | AiError.AiError>, E, R | Scope.Scope>> = [...hosts]
  const seen = new Set<AgentName>()
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const host = yield* next
    const found = pick(host)
    if (found !== undefined) return found
    seen.add(host.name)
    for (const { agent, host: behind, kind } of host.delegates) {
      if (kind !== "handoff" || seen.has(agent)) continue
      seen.add(agent)
      // Making a host fails with what any other does: with no error of a model's or a tool's.
      waiting.push(behind as Effect.Effect<AgentHost<E | AiError.AiError>, E, Scope.Scope>)
    }
  }
  return undefined
})
