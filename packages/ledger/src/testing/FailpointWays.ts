/**
 * What makes each durable write of a ledger, and what can be read of it before and afterwards.
 *
 * @since 0.1.0
 */
import { RunId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import type { Write } from "../Failpoints.ts"
import { at, type Scenario } from "./Scenario.ts"

/**
 * How a write comes about.
 *
 * @category models
 * @since 0.1.0
 */
export interface Way {
  readonly prepare: (scenario: Scenario) => Effect.Effect<unknown, unknown>
  readonly act: (scenario: Scenario) => Effect.Effect<unknown, unknown>
  /** Whether a reader sees everything of the act with this write, and nothing of it without. */
  readonly visible: boolean
}

const begun = (scenario: Scenario, name: string) => ({
  entryId: `entry ${name}`,
  conversationId: scenario.conversationId(name),
  runId: RunId.make(`run ${name}`),
  at
})

/** A full ledger with an account, an alias to come, and a turn that has begun. */
const prepare = Effect.fnUntraced(function* (scenario: Scenario) {
  yield* scenario.recordAll([scenario.entry("a"), scenario.entry("b", { decision: "failed" })], 2)
  yield* scenario.store.saveAccount(scenario.ledger(), { covers: ["entry a"], lines: ["- a"], text: "In all." })
  yield* scenario.store.begin(scenario.ledger(), begun(scenario, "c"))
})

const erase = (scenario: Scenario) => scenario.store.erase({ conversationKey: scenario.key() })

/**
 * By the write that is made.
 *
 * @category cases
 * @since 0.1.0
 */
export const ways: { readonly [write in Write]: Way } = {
  // It replaces a turn, and forgets that another one has begun.
  update: {
    prepare,
    act: (scenario) => scenario.store.record({ entry: scenario.entry("c", { workKey: "b" }), maxEntries: 2 }),
    visible: true
  },
  begin: {
    prepare,
    act: (scenario) => scenario.store.begin(scenario.ledger(), begun(scenario, "d")),
    visible: true
  },
  settle: { prepare, act: (scenario) => scenario.store.settle(scenario.ledger(), ["entry c"]), visible: true },
  remove: { prepare, act: erase, visible: true },
  // What it does a reader does not see.
  scrub: { prepare, act: erase, visible: false },
  alias: {
    prepare,
    act: (scenario) => scenario.store.alias({ alias: scenario.key("alias"), of: scenario.key() }),
    visible: true
  }
}

/**
 * Everything of the scenario that can be read.
 *
 * @category reading
 * @since 0.1.0
 */
export const look = Effect.fnUntraced(function* (scenario: Scenario) {
  const { store } = scenario
  const seen: Array<string> = []
  for (const key of ["it", "alias"]) {
    const { account, entries, gone } = yield* store.read(scenario.ledger({ key }))
    seen.push(`${key}: ${gone} gone, ${account?.text ?? "no account"}`)
    for (const { attempts, entry, ordinal } of entries) seen.push(`${ordinal} ${entry.entryId} ${attempts}`)
  }
  const others = yield* store.begin(scenario.ledger(), begun(scenario, "look"))
  yield* store.settle(scenario.ledger(), ["entry look"])
  return [...seen, ...others.map(({ entryId }) => `begun ${entryId}`)]
})
