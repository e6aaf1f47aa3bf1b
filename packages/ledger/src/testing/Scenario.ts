/**
 * What a case works with: a store, and names that no other case uses.
 *
 * @since 0.1.0
 */
import { derive } from "@colloquy/session/DerivedId"
import { AgentName, ConversationId, RunId, TenantId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConversationKey } from "../ConversationKey.ts"
import type { LedgerEntry } from "../LedgerEntry.ts"
import type { LedgerName } from "../LedgerModel.ts"
import type { LedgerStore, Tenants } from "../LedgerStore.ts"

/**
 * The place of a case.
 *
 * @category models
 * @since 0.1.0
 */
export class Scenario {
  readonly store: LedgerStore["Service"]
  readonly tenants: Tenants["Service"]
  private readonly name: string

  constructor(name: string, store: LedgerStore["Service"], tenants: Tenants["Service"]) {
    this.name = name
    this.store = store
    this.tenants = tenants
  }

  /** The same place, with the same names, of one tenant of this case. */
  tenant(suffix: string): Scenario {
    const tenant = TenantId.make(derive("conformance", this.name, suffix))
    return new Scenario(this.name, this.tenants.store(tenant), this.tenants)
  }

  agent(suffix = "desk"): AgentName {
    return AgentName.make(derive("conformance", this.name, suffix))
  }

  key(suffix = "it"): ConversationKey {
    return ConversationKey.make(`conformance:${derive(this.name, suffix)}`)
  }

  conversationId(suffix = "it"): ConversationId {
    return ConversationId.make(derive("conformance", this.name, suffix))
  }

  /** The ledger of the case. */
  ledger(fields: { readonly agent?: string; readonly key?: string } = {}): LedgerName {
    return { agent: this.agent(fields.agent), conversationKey: this.key(fields.key) }
  }

  /** A done turn of this name, which is its work key too, with fields of its own. */
  entry(name: string, fields: Partial<LedgerEntry> = {}): LedgerEntry {
    return {
      entryId: `entry ${name}`,
      ...this.ledger(),
      workKey: name,
      runId: RunId.make(`run ${name}`),
      at,
      trigger: `Please do ${name}.`,
      triggerIds: [],
      calls: [],
      delivery: "replied",
      reply: `I did ${name}.`,
      decision: "done",
      sources: [],
      ...fields
    }
  }

  /** Records turns one after the other. */
  recordAll(entries: ReadonlyArray<LedgerEntry>, maxEntries?: number) {
    return Effect.forEach(entries, (entry) => this.store.record({ entry, maxEntries }))
  }

  /** The ids of the entries of a ledger, in order. */
  ids(ledger: LedgerName = this.ledger()) {
    return Effect.map(this.store.read(ledger), ({ entries }) => entries.map(({ entry }) => entry.entryId))
  }

  /** The ledgers of this case, as the list has them. */
  listed(limit?: number) {
    const prefix = `conformance:${derive(this.name)}`
    return Stream.runCollect(this.store.list({ limit })).pipe(
      Effect.map((all) => all.filter(({ conversationKey }) => conversationKey.startsWith(prefix)))
    )
  }
}

/**
 * A time.
 *
 * @category constants
 * @since 0.1.0
 */
export const at = 1_780_000_000_000
