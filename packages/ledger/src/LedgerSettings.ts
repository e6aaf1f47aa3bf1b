/**
 * The settings of the ledger, and the live switch: whoever changes them changes the next turn, without a restart.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

/**
 * `conversationSession` in an app's configuration. `enabled: false` neither reads nor writes, and leaves rows alone.
 *
 * @category models
 * @since 0.1.0
 */
export const ConversationSession = Schema.Struct({
  enabled: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true))),
  /** How many turns of a conversation are kept. */
  maxEntries: Schema.Int.check(Schema.isGreaterThan(0)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(20))),
  /** How long a turn is kept; at least one interval of the sweep. */
  retentionDays: Schema.Finite.check(Schema.isGreaterThan(0)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(30)))
})
/** @since 0.1.0 */
export interface ConversationSession extends Schema.Schema.Type<typeof ConversationSession> {}

/**
 * Settings that are none: a limit of zero or below, or something of another type. The settings before stay.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidLedgerSettings extends Schema.TaggedError<InvalidLedgerSettings>(
  "@colloquy/ledger/InvalidLedgerSettings"
)("InvalidLedgerSettings", { detail: Schema.String }) {
  override get message() {
    return `the settings of the ledger are not valid: ${this.detail}`
  }
}

/**
 * What holds without any settings.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaults: ConversationSession = { enabled: true, maxEntries: 20, retentionDays: 30 }

/**
 * Reads settings; what is absent is as in {@link defaults}.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (settings: unknown): Effect.Effect<ConversationSession, InvalidLedgerSettings> =>
  Effect.mapError(
    decodeSettings(settings),
    (error) => new InvalidLedgerSettings({ detail: error.message.replaceAll(/\s*\n\s*/g, " ") })
  )

/**
 * The settings that hold now, and their changes.
 *
 * @category services
 * @since 0.1.0
 */
export class LedgerSettings extends Context.Service<
  LedgerSettings,
  {
    readonly current: Effect.Effect<ConversationSession>
    /** The settings that hold, then each change. */
    readonly changes: Stream.Stream<ConversationSession>
    /** Changes settings; what is absent stays as it is. Refused ones change nothing. */
    readonly change: (settings: unknown) => Effect.Effect<ConversationSession, InvalidLedgerSettings>
  }
>()("@colloquy/ledger/LedgerSettings") {}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (ref: SubscriptionRef.SubscriptionRef<ConversationSession>): LedgerSettings["Service"] =>
  LedgerSettings.of({
    current: SubscriptionRef.get(ref),
    changes: SubscriptionRef.changes(ref),
    change: Effect.fn("LedgerSettings.change")(function* (settings) {
      const merged = isObject(settings) ? { ...(yield* SubscriptionRef.get(ref)), ...settings } : settings
      return yield* SubscriptionRef.setAndGet(ref, yield* decode(merged))
    })
  })

/**
 * Settings that begin as {@link defaults}; `change` changes them.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<LedgerSettings> = Layer.effect(
  LedgerSettings,
  Effect.map(SubscriptionRef.make(defaults), make)
)

/**
 * Settings that begin as these; what is absent is as in {@link defaults}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (settings: unknown): Layer.Layer<LedgerSettings, InvalidLedgerSettings> =>
  Layer.effect(
    LedgerSettings,
    Effect.map(
      Effect.flatMap(decode(settings), (settings) => SubscriptionRef.make(settings)),
      make
    )
  )

/**
 * Settings over a reference of the app's own, which it feeds from whatever source it has.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRef = (ref: SubscriptionRef.SubscriptionRef<ConversationSession>): Layer.Layer<LedgerSettings> =>
  Layer.succeed(LedgerSettings, make(ref))

/**
 * Settings from configuration under `conversationSession`: {@link defaults} where there are none.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig: Layer.Layer<LedgerSettings, InvalidLedgerSettings | Config.ConfigError> = Layer.unwrap(
  Effect.gen(function* () {
    const config = Config.all({
      enabled: Config.option(Config.Boolean("enabled")),
      maxEntries: Config.option(Config.Finite("maxEntries")),
      retentionDays: Config.option(Config.Finite("retentionDays"))
    })
    const found = yield* Config.nested(config, "conversationSession")
    return layerWith(Object.fromEntries(Object.entries(found).flatMap(([name, value]) => present(name, value))))
  })
)

/**
 * Settings that follow a stream of them, until the scope ends. One that is refused is logged and changes nothing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const follow = <E, R>(
  settings: LedgerSettings["Service"],
  source: Stream.Stream<unknown, E, R>
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.asVoid(
    Effect.forkScoped(
      Stream.runForEach(source, (next) =>
        Effect.catch(settings.change(next), (error) => Effect.logError(error.message))
      ).pipe(
        Effect.catchCause((cause) => Effect.logError("the settings of the ledger are not followed any more", cause))
      )
    )
  )

// --- internal ---

const decodeSettings = Schema.decodeUnknownEffect(ConversationSession, { onExcessProperty: "error" })

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const present = (name: string, value: Option.Option<unknown>): ReadonlyArray<readonly [string, unknown]> =>
  Option.isSome(value) ? [[name, value.value]] : []
