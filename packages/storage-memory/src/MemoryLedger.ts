/**
 * Ledgers as rows in memory, and the encoded driver over them.
 *
 * @since 0.1.0
 */
import {
  type Begun,
  type Decided,
  LedgerDriver,
  type LedgerHead,
  type LedgerId,
  type LedgerState,
  type Removal,
  type Removed,
  type Row
} from "@colloquy/ledger/LedgerDriver"
import * as Effect from "effect/Effect"
import { compareBytes } from "./internal/idOrder.ts"

/**
 * The rows of one ledger, ascending by ordinal.
 *
 * @category models
 * @since 0.1.0
 */
export interface LedgerRows extends LedgerId {
  readonly counter: number
  readonly gone: number
  readonly account: string | undefined
  readonly rows: ReadonlyArray<Row>
}

/**
 * The ledgers of a database, by tenant, key and agent, with their begun turns and aliases.
 *
 * @category models
 * @since 0.1.0
 */
export interface LedgerTable {
  readonly ledgers: Map<string, LedgerRows>
  readonly begun: Map<string, LedgerId & Begun>
  readonly aliases: Map<string, { readonly tenant: string; readonly alias: string; readonly of: string }>
}

/**
 * An empty table.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeTable = (): LedgerTable => ({ ledgers: new Map(), begun: new Map(), aliases: new Map() })

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (table: LedgerTable): LedgerDriver["Service"] => {
  const { aliases, begun, ledgers } = table
  /** The ledger that is meant: an alias names another one. */
  const resolve = <Id extends { readonly tenant: string; readonly conversationKey: string }>(id: Id): Id => ({
    ...id,
    conversationKey: aliases.get(join(id.tenant, id.conversationKey))?.of ?? id.conversationKey
  })
  const read = (id: LedgerId) => ledgers.get(nameOf(resolve(id)))

  const update = <A>(id: LedgerId, decide: (state: LedgerState) => Decided<A>): A => {
    const ledger: LedgerRows = read(id) ?? { ...nothing, ...resolve(id) }
    const { change, value } = decide(ledger)
    if (change === undefined) return value
    const { account, gone = 0, insert, remove = [], revise, settle } = change
    if (settle !== undefined) begun.delete(join(nameOf(resolve(id)), settle))
    const left = ledger.rows
      .filter(({ ordinal }) => !remove.includes(ordinal))
      .map((row) => (row.ordinal === revise?.ordinal ? { ...row, ...revise } : row))
    const taken = insert?.workKey !== "" && left.some(({ workKey }) => workKey === insert?.workKey)
    if (taken) throw new Error(`two rows of the work ${insert?.workKey}: the unique index refuses it`)
    if (ledger.counter === 0 && insert === undefined) return value
    ledgers.set(nameOf(ledger), {
      ...ledger,
      counter: insert?.ordinal ?? ledger.counter,
      gone: ledger.gone + gone,
      account: account === undefined ? ledger.account : (account ?? undefined),
      rows: insert === undefined ? left : [...left, insert]
    })
    return value
  }

  /** Removes rows, and what nothing is left of. */
  const drop = (
    matches: (ledger: LedgerRows, row: Row) => boolean
  ): Pick<Removed, "entries" | "accounts" | "aliases"> => {
    const removed = { entries: 0, accounts: 0, aliases: 0 }
    for (const [name, ledger] of ledgers) {
      const left = ledger.rows.filter((row) => !matches(ledger, row))
      const gone = ledger.rows.length - left.length
      if (gone === 0) continue
      removed.entries += gone
      if (ledger.account !== undefined) removed.accounts++
      if (left.length > 0) {
        ledgers.set(name, { ...ledger, rows: left, gone: ledger.gone + gone, account: undefined })
        continue
      }
      ledgers.delete(name)
      removed.aliases += dropAliases(ledger)
    }
    return removed
  }

  const dropAliases = ({ conversationKey, tenant }: Pick<LedgerId, "tenant" | "conversationKey">): number => {
    const isUsed = [...ledgers.values()].some(
      (ledger) => ledger.tenant === tenant && ledger.conversationKey === conversationKey
    )
    return isUsed ? 0 : deleteWhere(aliases, (alias) => alias.tenant === tenant && alias.of === conversationKey)
  }

  const remove = (removal: Removal): Removed => {
    switch (removal.by) {
      case "key": {
        const { conversationKey, tenant } = resolve(removal)
        const isOf = (id: LedgerId) => id.tenant === tenant && id.conversationKey === conversationKey
        const removed = drop(isOf)
        return {
          ...removed,
          begun: deleteWhere(begun, isOf),
          aliases: removed.aliases + dropAliases({ tenant, conversationKey })
        }
      }
      case "agent": {
        const isOf = (id: LedgerId) => id.tenant === removal.tenant && id.agent === removal.agent
        return { ...drop(isOf), begun: deleteWhere(begun, isOf) }
      }
      case "conversation": {
        const { conversationId, records, tenant } = removal
        return {
          ...drop(
            (ledger, row) =>
              ledger.tenant === tenant &&
              row.conversationId === conversationId &&
              (records === undefined || records.some((record) => sourcesOf(row).has(record)))
          ),
          begun:
            records === undefined
              ? deleteWhere(begun, (turn) => turn.tenant === tenant && turn.conversationId === conversationId)
              : 0
        }
      }
      case "before": {
        const isOf = (id: LedgerId, at: number) =>
          at < removal.at && (removal.tenant === undefined || removal.tenant === id.tenant)
        return {
          ...drop((ledger, row) => isOf(ledger, row.at)),
          begun: deleteWhere(begun, (turn) => isOf(turn, turn.at))
        }
      }
    }
  }

  const alias = (tenant: string, name: string, of: string): "aliased" | "same" | "has-entries" => {
    const target = resolve({ tenant, conversationKey: of }).conversationKey
    if (target === name) return "same"
    for (const ledger of ledgers.values()) {
      if (ledger.tenant === tenant && ledger.conversationKey === name) return "has-entries"
    }
    for (const [key, known] of aliases) {
      if (known.tenant === tenant && known.of === name) aliases.set(key, { ...known, of: target })
    }
    aliases.set(join(tenant, name), { tenant, alias: name, of: target })
    return "aliased"
  }

  return LedgerDriver.of({
    update: (id, decide) => Effect.sync(() => update(id, decide)),
    read: (id) =>
      Effect.sync(() => {
        const { account, gone, rows } = read(id) ?? nothing
        return { account, gone, rows }
      }),
    list: ({ after, limit, tenant }) =>
      Effect.sync(() =>
        [...ledgers.values()]
          .filter((ledger) => ledger.tenant === tenant && compareNames(ledger, after) > 0)
          .toSorted(compareNames)
          .slice(0, limit)
          .map(headOf)
      ),
    begin: (id, turn, limit) =>
      Effect.sync(() => {
        const ledger = resolve(id)
        const name = nameOf(ledger)
        const others = [...begun.values()]
          .filter((other) => nameOf(other) === name && other.entryId !== turn.entryId)
          .toReversed()
        const key = join(name, turn.entryId)
        if (!begun.has(key)) begun.set(key, { ...ledger, ...turn })
        return others.slice(0, limit)
      }),
    settle: (id, entryIds) =>
      Effect.sync(() => {
        for (const entryId of entryIds) begun.delete(join(nameOf(resolve(id)), entryId))
      }),
    remove: (removal) => Effect.sync(() => remove(removal)),
    // Nothing else holds what a table does not; when its memory is used again is for the engine to say.
    scrub: Effect.succeed("gone"),
    alias: ({ alias: name, of, tenant }) => Effect.sync(() => alias(tenant, name, of))
  })
}

// --- internal ---

const nothing = { counter: 0, gone: 0, account: undefined, rows: [] } as const

// A separator that no id contains.
const join = (...parts: ReadonlyArray<string>): string => parts.join("\u0000")

const nameOf = ({ agent, conversationKey, tenant }: LedgerId): string => join(tenant, conversationKey, agent)

const deleteWhere = <A>(map: Map<string, A>, matches: (value: A) => boolean): number => {
  const before = map.size
  for (const [key, value] of map) if (matches(value)) map.delete(key)
  return before - map.size
}

const sourcesOf = ({ sources }: Row): ReadonlySet<unknown> => new Set(JSON.parse(sources))

type Name = Pick<LedgerId, "conversationKey" | "agent">

const compareNames = (a: Name, b: Name): number =>
  compareBytes(a.conversationKey, b.conversationKey) || compareBytes(a.agent, b.agent)

const headOf = ({ agent, conversationKey, gone, rows }: LedgerRows): LedgerHead => ({
  conversationKey,
  agent,
  entries: rows.length,
  gone,
  lastAt: rows.at(-1)?.at ?? 0
})
