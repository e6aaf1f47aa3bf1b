/**
 * Conversations as NDJSON files in a folder: a file for each, a line for each commit.
 */
import { ConversationDriver } from "@colloquy/store/ConversationDriver"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import type { Options as StoreOptions } from "@colloquy/store/StoreModel"
import * as Layer from "effect/Layer"
import * as JsonlDriver from "./JsonlDriver.ts"

export interface Options extends StoreOptions {
  /** Created if it is absent. One process at a time has it. */
  readonly folder: string
  /**
   * Default true: an acknowledged append survives power loss. False: it survives a crash of the process, and a power loss
   * may take the last ones, always whole batches.
   */
  readonly sync?: boolean | undefined
}

/**
 * A store in a folder. Fails when another process has the folder, when it cannot be used, or when a file is damaged.
 */
export const layer = (
  options: Options
): Layer.Layer<ConversationStore.ConversationStore | ConversationStore.Tenants, StoreUnavailable> =>
  ConversationStore.layer(options).pipe(
    Layer.provide(Layer.effect(ConversationDriver, JsonlDriver.make(options.folder, options.sync ?? true)))
  )
