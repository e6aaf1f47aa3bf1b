/**
 * What the desk says of itself.
 */
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { DeskApi } from "../api/DeskApi.ts"
import { Build } from "./Build.ts"
import { ChosenModel, titleOf } from "./ChosenModel.ts"

export const layer = HttpApiBuilder.group(DeskApi, "system", (handlers) =>
  Effect.gen(function* () {
    const { version } = yield* Build
    const model = titleOf(yield* ChosenModel)
    return handlers.handle("health", () => Effect.succeed({ ok: true as const, version, model }))
  })
)
