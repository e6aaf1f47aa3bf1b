/**
 * Conversations, settings and ledgers in memory: deterministic, inspectable, with faults where a test wants them.
 *
 * The same front and the same driver contract as every other storage, so what passes here passes there. An append costs
 * what the batch costs; observers of other conversations are not woken. Everything is gone with the process.
 *
 * @since 0.1.0
 */
import { LedgerDriver } from "@colloquy/ledger/LedgerDriver"
import * as LedgerStore from "@colloquy/ledger/LedgerStore"
import { Erasers } from "@colloquy/session/Seams"
import { ConversationDriver } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import { SettingsDriver } from "@colloquy/store/SettingsDriver"
import * as SettingsStore from "@colloquy/store/SettingsStore"
import type { Options as StoreOptions } from "@colloquy/store/StoreModel"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MemoryDatabase from "./MemoryDatabase.ts"
import * as MemoryDriver from "./MemoryDriver.ts"
import * as MemoryLedger from "./MemoryLedger.ts"
import * as MemorySettings from "./MemorySettings.ts"

/**
 * What a storage provides: the stores of conversations, of settings and of ledgers, and those of tenants over the same
 * rows. Erasing a conversation removes the ledger entries that were made of it.
 *
 * @category models
 * @since 0.1.0
 */
export type Stores =
  | ConversationStore.ConversationStore
  | ConversationStore.Tenants
  | SettingsStore.SettingsStore
  | SettingsStore.Tenants
  | LedgerStore.LedgerStore
  | LedgerStore.Tenants

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends StoreOptions {
  /** The rows to work on (default: a new, empty database for each layer that is built). */
  readonly database?: MemoryDatabase.MemoryDatabase | undefined
  /** What goes wrong around the commits of conversations. */
  readonly faults?: MemoryDriver.Faults | undefined
}

/**
 * A store in memory, over a database of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Stores> = Layer.suspend(() => layerWith({}))

/**
 * A store in memory over a given database, or with faults.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<Stores> =>
  Layer.mergeAll(
    ConversationStore.layer(options).pipe(Layer.provide(layerErasers)),
    SettingsStore.layer,
    LedgerStore.layer
  ).pipe(Layer.provide(layerDrivers(options)))

// --- internal ---

const layerDrivers = (options: Options) =>
  Layer.syncContext(() => {
    const database = options.database ?? MemoryDatabase.make()
    return Context.make(ConversationDriver, MemoryDriver.make(database, options.faults)).pipe(
      Context.add(SettingsDriver, MemorySettings.make(database.settings)),
      Context.add(LedgerDriver, MemoryLedger.make(database.ledgers))
    )
  })

/** Those of the program, and that of the ledgers. Fresh, since each storage of a program has its own. */
const layerErasers = Layer.fresh(
  Layer.effect(
    Erasers,
    Effect.gen(function* () {
      return [...(yield* Erasers), LedgerStore.eraser(yield* LedgerDriver)]
    })
  )
)
