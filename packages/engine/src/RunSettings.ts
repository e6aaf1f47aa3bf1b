/**
 * The options of a run that can be stored under a name, and used by agents that say so.
 *
 * @since 0.1.0
 */
import { Mode } from "@colloquy/session/Payload"
import { SettingsId } from "@colloquy/session/Ids"
import type { StoreUnavailable } from "@colloquy/store/StoreError"
import type { SettingsStore } from "@colloquy/store/SettingsStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { UnknownSettings } from "./AgentError.ts"

/**
 * What settings may hold. Other keys are the app's own and are left alone.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RunSettings = Schema.Struct({
  mode: Schema.optionalKey(Mode),
  maxToolRounds: Schema.optionalKey(Schema.Int),
  toolConcurrency: Schema.optionalKey(Schema.Int),
  modelRetries: Schema.optionalKey(Schema.Int),
  persistence: Schema.optionalKey(Schema.Literals(["buffer", "strict"]))
})
/** @since 0.1.0 */
export interface RunSettings extends Schema.Schema.Type<typeof RunSettings> {}

/**
 * An option that stored settings may set, for agents that name it as configurable.
 *
 * @category models
 * @since 0.1.0
 */
export type Configurable = keyof RunSettings

/**
 * Reads settings, and keeps of them what an agent lets be set. Fails with `UnknownSettings` where there are none of this
 * id, where there is no store of settings, or where what is stored is none.
 *
 * @category reading
 * @since 0.1.0
 */
export const load = Effect.fnUntraced(function* (
  store: Option.Option<SettingsStore["Service"]>,
  settingsId: string,
  configurable: ReadonlySet<Configurable>
): Effect.fn.Return<RunSettings, UnknownSettings | StoreUnavailable> {
  const unknown = (reason: string) => new UnknownSettings({ settingsId, reason })
  if (Option.isNone(store)) return yield* unknown("there is no store of settings")
  const id = yield* Effect.mapError(Schema.decodeEffect(SettingsId)(settingsId), () => unknown("it is no id"))
  const { settings } = yield* Effect.catchTag(store.value.get(id), "SettingsNotFound", () =>
    Effect.fail(unknown("there are none of this id"))
  )
  const chosen = Object.fromEntries(Object.entries(settings).filter(([key]) => isConfigurable(configurable, key)))
  return yield* Effect.mapError(decode(chosen), (error) => unknown(error.message))
})

// --- internal ---

const decode = Schema.decodeUnknownEffect(RunSettings)

const isConfigurable = (configurable: ReadonlySet<string>, key: string): boolean => configurable.has(key)
