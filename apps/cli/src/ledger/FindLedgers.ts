/**
 * The ledgers under a conversation key: one for each agent, or that of one agent.
 */
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import type { Ledger, LedgerName } from "@colloquy/ledger/LedgerModel"
import { LedgerStore } from "@colloquy/ledger/LedgerStore"
import { AgentName } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"

/**
 * Nothing is kept under this key, or nothing of this agent. `others` are agents of which something is.
 *
 * @public
 */
export class LedgerAbsent extends Schema.TaggedError<LedgerAbsent>("@colloquy/cli/LedgerAbsent")("LedgerAbsent", {
  conversationKey: ConversationKey,
  agent: Schema.optionalKey(AgentName),
  others: Schema.Array(AgentName),
  database: Schema.String
}) {
  override get message() {
    const whose = this.agent === undefined ? "" : ` of ${this.agent}`
    const hint =
      this.others.length === 0
        ? "colloquy ledger list shows what is there"
        : `there is one of ${this.others.join(", ")}`
    return `there is no ledger${whose} under ${this.conversationKey} in ${this.database}: ${hint}`
  }
}

export interface Found extends Ledger {
  readonly name: LedgerName
}

/** At least one, in the order of the agents. The key may be an alias: its ledgers are those of what it stands for. */
export const findLedgers = Effect.fnUntraced(function* (
  conversationKey: ConversationKey,
  agent: Option.Option<AgentName>
) {
  const found = yield* Option.isSome(agent)
    ? read(conversationKey, [agent.value])
    : Effect.flatMap(agentsOf(conversationKey), (agents) => read(conversationKey, agents))
  const [first, ...more] = found
  if (first !== undefined) return [first, ...more] as const
  const others = Option.isSome(agent) ? yield* read(conversationKey, yield* agentsOf(conversationKey)) : []
  return yield* new LedgerAbsent({
    conversationKey,
    ...(Option.isSome(agent) ? { agent: agent.value } : {}),
    others: others.map(({ name }) => name.agent),
    database: yield* Database.title
  })
})

// --- internal ---

/** The agents that have a ledger under the key; all agents for a key without one, which may be an alias. */
const agentsOf = Effect.fnUntraced(function* (conversationKey: ConversationKey) {
  const store = yield* LedgerStore
  const [here, all] = [new Set<AgentName>(), new Set<AgentName>()]
  yield* Stream.runForEach(store.list(), (summary) =>
    Effect.sync(() => {
      all.add(summary.agent)
      if (summary.conversationKey === conversationKey) here.add(summary.agent)
    })
  )
  return [...(here.size > 0 ? here : all)].toSorted()
})

const read = Effect.fnUntraced(function* (conversationKey: ConversationKey, agents: ReadonlyArray<AgentName>) {
  const store = yield* LedgerStore
  const all = yield* Effect.forEach(agents, (agent) => {
    const name = { conversationKey, agent }
    return Effect.map(store.read(name), (ledger): Found => ({ name, ...ledger }))
  })
  return all.filter(({ entries, gone, unreadable }) => entries.length + unreadable.length + gone > 0)
})
