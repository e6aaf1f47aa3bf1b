/**
 * Conversations in memory: deterministic, inspectable, with faults where a test wants them.
 *
 * The same front and the same driver contract as every other storage, so what passes here passes there. An append costs
 * what the batch costs; observers of other conversations are not woken. Everything is gone with the process.
 *
 * @since 0.1.0
 */
import { ConversationDriver } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import type { Options as StoreOptions } from "@colloquy/store/StoreModel"
import * as Layer from "effect/Layer"
import * as MemoryDatabase from "./MemoryDatabase.ts"
import * as MemoryDriver from "./MemoryDriver.ts"

/**
 * What a storage provides: the store of conversations, and the stores of tenants over the same rows.
 *
 * @category models
 * @since 0.1.0
 */
export type Stores = ConversationStore.ConversationStore | ConversationStore.Tenants

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends StoreOptions {
  /** The rows to work on (default: a new, empty database for each layer that is built). */
  readonly database?: MemoryDatabase.MemoryDatabase | undefined
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
  ConversationStore.layer(options).pipe(
    Layer.provide(
      Layer.sync(ConversationDriver, () => MemoryDriver.make(options.database ?? MemoryDatabase.make(), options.faults))
    )
  )
