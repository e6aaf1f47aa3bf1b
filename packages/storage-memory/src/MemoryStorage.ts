/**
 * Conversations and settings in memory: deterministic, inspectable, with faults where a test wants them.
 *
 * The same front and the same driver contract as every other storage, so what passes here passes there. An append costs
 * what the batch costs; observers of other conversations are not woken. Everything is gone with the process.
 *
 * @since 0.1.0
 */
import { ConversationDriver } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import { SettingsDriver } from "@colloquy/store/SettingsDriver"
import * as SettingsStore from "@colloquy/store/SettingsStore"
import type { Options as StoreOptions } from "@colloquy/store/StoreModel"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as MemoryDatabase from "./MemoryDatabase.ts"
import * as MemoryDriver from "./MemoryDriver.ts"
import * as MemorySettings from "./MemorySettings.ts"

/**
 * What a storage provides: the stores of conversations and of settings, and those of tenants over the same rows.
 *
 * @category models
 * @since 0.1.0
 */
export type Stores =
  | ConversationStore.ConversationStore
  | ConversationStore.Tenants
  | SettingsStore.SettingsStore
  | SettingsStore.Tenants

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
  Layer.merge(ConversationStore.layer(options), SettingsStore.layer).pipe(Layer.provide(layerDrivers(options)))

// --- internal ---

const layerDrivers = (options: Options) =>
  Layer.syncContext(() => {
    const database = options.database ?? MemoryDatabase.make()
    return Context.make(ConversationDriver, MemoryDriver.make(database, options.faults)).pipe(
      Context.add(SettingsDriver, MemorySettings.make(database.settings))
    )
  })
