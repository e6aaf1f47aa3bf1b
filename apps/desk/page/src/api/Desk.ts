/**
 * The desk's API in the page: the typed client of the server's own declarations, over fetch.
 *
 * Events come through the same client, and each join names the last record that the page holds. An `EventSource` would
 * join again by itself, but decodes nothing and does not say why a join was refused.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { DeskApi } from "../../../src/api/DeskApi.ts"

export class Desk extends Context.Service<Desk>()("@colloquy/desk/page/Desk", {
  make: HttpApiClient.make(DeskApi, { baseUrl: globalThis.location.origin })
}) {
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide(FetchHttpClient.layer))
}

/** Asks the API. (`Desk.use` is the same; the rules of React take its name for a hook's.) */
export const ask = <A, E>(question: (client: Desk["Service"]) => Effect.Effect<A, E>): Effect.Effect<A, E, Desk> =>
  Effect.flatMap(Desk, question)

const runtime = ManagedRuntime.make(Desk.layer)

/** Runs an effect on the client of this page. */
export const run = <A, E>(effect: Effect.Effect<A, E, Desk>): Promise<A> => runtime.runPromise(effect)

/** Runs an effect until the returned function is called. */
export const start = <A, E>(effect: Effect.Effect<A, E, Desk>): (() => void) => {
  const fiber = runtime.runFork(effect)
  return () => fiber.interruptUnsafe()
}
