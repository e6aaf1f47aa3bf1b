/** Agents by the names that the log has. */
import type { AgentName, ConversationId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { UnknownAgent } from "../AgentError.ts"
import type { AgentHost } from "../AgentHost.ts"
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
  const waiting: Array<AgentHost<E | AiError.AiError>> = []
  for (const agent of Agents.all(source)) waiting.push(yield* agent.host)
  const seen = new Set<string>(Agents.all(source).map(({ name }) => name))
  for (let host = waiting.shift(); host !== undefined; host = waiting.shift()) {
    if (host.name === name) return host
    for (const delegate of host.delegates) {
      if (delegate.kind !== "handoff" || seen.has(delegate.agent)) continue
      seen.add(delegate.agent)
      waiting.push(yield* delegate.host as Effect.Effect<AgentHost<E | AiError.AiError>, E, Scope.Scope>)
    }
  }
  const names = Agents.all(source).map(({ name }) => name)
  return yield* new UnknownAgent({ conversationId, recorded: name, given: names.join(", ") })
})

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
