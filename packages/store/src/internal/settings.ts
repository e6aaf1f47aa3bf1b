/**
 * The rules of a settings store, written once over the encoded driver.
 */
import * as CanonicalJson from "@colloquy/session/CanonicalJson"
import { idFault, SettingsId } from "@colloquy/session/Ids"
import { LimitExceeded, maxPayloadBytes } from "@colloquy/session/Limits"
import { byteLength } from "@colloquy/session/Text"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { SettingsDriver, SettingsHead, SettingsRow } from "../SettingsDriver.ts"
import { InvalidSettings, SettingsConflict, SettingsNotFound, StoreUnavailable } from "../StoreError.ts"
import type { PutSettingsRequest, SettingsSummary } from "../StoreModel.ts"
import { now } from "./rows.ts"

export const make = (driver: SettingsDriver["Service"]) => {
  const put = Effect.fn("SettingsStore.put")(function* (request: PutSettingsRequest) {
    const { expectedRevision: expected, settingsId } = request
    const settings = yield* Effect.fromResult(encode(request))
    // Each turn but the last is another caller's success.
    while (true) {
      const found = Option.getOrUndefined(yield* driver.get(settingsId))
      const actual = found?.revision ?? 0
      if (expected !== undefined && actual !== expected) {
        // An acknowledgement that was lost.
        if (actual === expected + 1 && found?.settings === settings) return { revision: actual }
        return yield* new SettingsConflict({ settingsId, expected, actual })
      }
      const at = yield* now
      const row = { settingsId, revision: actual + 1, createdAt: found?.createdAt ?? at, updatedAt: at, settings }
      if ((yield* driver.put(row, actual)) === "committed") return { revision: row.revision }
    }
  })

  const get = Effect.fn("SettingsStore.get")(function* (settingsId: SettingsId) {
    const row = isId(settingsId) ? Option.getOrUndefined(yield* driver.get(settingsId)) : undefined
    if (row === undefined) return yield* new SettingsNotFound({ settingsId })
    const settings = yield* Effect.fromResult(decode(row))
    return { ...summaryOf(row), settings }
  })

  const remove = Effect.fn("SettingsStore.remove")(function* (settingsId: SettingsId) {
    return isId(settingsId) && (yield* driver.remove(settingsId))
  })

  const list = (request: { readonly after?: SettingsId | undefined; readonly limit?: number | undefined } = {}) => {
    const { after = beforeAnyId, limit = Infinity } = request
    const heads = Stream.paginate<string, SettingsHead, StoreUnavailable, never>(
      after < beforeAnyId ? beforeAnyId : after,
      (after) =>
        Effect.map(driver.list({ after, before: undefined, limit: listPage }), (heads) => {
          const last = heads.at(-1)
          return [heads, last === undefined || heads.length < listPage ? Option.none() : Option.some(last.settingsId)]
        })
    )
    return heads.pipe(Stream.map(summaryOf), Number.isFinite(limit) ? Stream.take(limit) : (all) => all)
  }

  return { put, get, remove, list }
}

// --- internal ---

const listPage = 500
// No id has a control character; rows of a tenant begin with one.
const beforeAnyId = "\u001f"

/** A brand can be forged; a text with control characters would reach rows of tenants. */
const isId = (text: string): boolean => idFault(text) === undefined

const encode = (request: PutSettingsRequest): Result.Result<string, InvalidSettings | LimitExceeded> => {
  const { expectedRevision, settings, settingsId } = request
  const invalid = (reason: InvalidSettings["reason"], detail: string) =>
    Result.fail(new InvalidSettings({ settingsId, reason, detail }))
  const fault = idFault(settingsId)
  if (fault !== undefined) return invalid("id", fault)
  if (expectedRevision !== undefined && !(Number.isSafeInteger(expectedRevision) && expectedRevision >= 0)) {
    return invalid("expected-revision", `${expectedRevision} is no natural number; 0 stands for settings not there yet`)
  }
  if (typeof settings !== "object" || settings === null || Array.isArray(settings)) {
    return invalid("content", "settings are an object; put the value under a name of its own")
  }
  const text = CanonicalJson.encode(settings)
  if (Result.isFailure(text)) {
    return text.failure._tag === "NotJson" ? invalid("content", text.failure.message) : Result.fail(text.failure)
  }
  // A UTF-16 code unit is at most three UTF-8 bytes, so most settings need no count.
  const actual = text.success.length * 3 > maxPayloadBytes ? byteLength(text.success) : 0
  return actual > maxPayloadBytes
    ? Result.fail(new LimitExceeded({ limit: "payload-bytes", maximum: maxPayloadBytes, actual }))
    : Result.succeed(text.success)
}

/** Text that was put is JSON; anything else is damage. */
const decode = ({ settings, settingsId }: SettingsRow): Result.Result<Schema.JsonObject, StoreUnavailable> => {
  const damaged = (cause: unknown) =>
    new StoreUnavailable({
      reason: "damaged",
      retryable: false,
      detail: `the stored settings ${settingsId} cannot be read; put them again, or restore a backup`,
      cause
    })
  const json = Result.try({ try: () => CanonicalJson.parse(settings), catch: damaged })
  return Result.flatMap(json, (json) => (isJsonObject(json) ? Result.succeed(json) : Result.fail(damaged(null))))
}

const isJsonObject = Schema.is(Schema.JsonObject)

const summaryOf = ({ createdAt, revision, settingsId, updatedAt }: SettingsHead): SettingsSummary => ({
  settingsId: SettingsId.make(settingsId),
  revision,
  createdAt,
  updatedAt
})
