#!/usr/bin/env node
/**
 * The entry of the process: `desk [--port n] [--db file] [--model name]`. Prints one line with one URL once it is
 * ready; everything else is on stderr.
 */
import type { ModelChoice } from "@colloquy/models/ModelChoice"
import * as Models from "@colloquy/models/Models"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { mkdir } from "node:fs/promises"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import * as OfflineModel from "./agent/OfflineModel.ts"
import * as Prices from "./api/Prices.ts"
import * as Authorization from "./server/Authorization.ts"
import { ModelPrices } from "./server/ChosenModel.ts"
import * as Listening from "./server/Listening.ts"
import * as RequestLimits from "./server/RequestLimits.ts"
import * as Wiring from "./server/Wiring.ts"

const flags = {
  port: Flag.Int("port").pipe(
    Flag.withDescription("Where to listen (or DESK_PORT): 0 is any port; without it the first free one from 4310 on"),
    Flag.withFallbackConfig(Config.Int("DESK_PORT")),
    Flag.filter(
      (port) => port >= 0 && port <= 65_535,
      () => "a port is a number from 0 to 65535"
    ),
    Flag.optional
  ),
  db: Flag.String("db").pipe(
    Flag.withDescription("The SQLite file (or DESK_DB)"),
    Flag.withFallbackConfig(Config.String("DESK_DB")),
    Flag.withDefault(".desk/desk.db")
  ),
  model: Flag.String("model").pipe(
    Flag.withMetavar("<[anthropic/|openai/|compatible/]model|offline>"),
    Flag.withDescription(
      "The model that answers (or COLLOQUY_MODEL). Its provider comes from OPENAI_BASE_URL, ANTHROPIC_API_KEY or " +
        "OPENAI_API_KEY; with none of them an offline stand-in answers"
    ),
    Flag.withFallbackConfig(Config.String("COLLOQUY_MODEL")),
    Flag.optional
  ),
  prices: Flag.String("prices").pipe(
    Flag.withMetavar("<input/output [currency]>"),
    Flag.withDescription("What a million tokens of the model cost, like 3/15 or 3/15 EUR (or DESK_PRICES)"),
    Flag.withFallbackConfig(Config.String("DESK_PRICES")),
    Flag.mapEffect((text) =>
      Effect.mapError(
        Effect.fromResult(Prices.parse(text)),
        (expected) => new CliError.InvalidValue({ option: "prices", value: text, expected, kind: "flag" })
      )
    ),
    Flag.optional
  )
}

const desk = Command.make("desk", flags, ({ db, model, port, prices }) =>
  Effect.gen(function* () {
    const chosen = yield* Models.choice(model)
    yield* Effect.promise(() => mkdir(dirname(db), { recursive: true }))
    const served = Wiring.layer({
      filename: db,
      pageRoot: fileURLToPath(new URL("page", import.meta.url)),
      chosen,
      model: Models.layer(chosen, OfflineModel.layer())
    }).pipe(
      Layer.provide([Authorization.layer(Authorization.loopbackOnly), RequestLimits.layer()]),
      Layer.provide(
        Layer.succeed(
          ModelPrices,
          Option.getOrElse(prices, () => pretended(chosen))
        )
      ),
      Layer.provideMerge(Listening.layer(Option.getOrUndefined(port)))
    )
    return yield* Layer.launch(Layer.provideMerge(Layer.effectDiscard(announce), served))
  })
).pipe(Command.withDescription("A support desk in the browser, over conversations that last"))

/** The stand-in costs nothing, and pretends to, so that the page has something to show. */
const pretended = ({ provider }: ModelChoice): Prices.Prices | undefined =>
  provider === "offline" ? { currency: "USD", input: 3, output: 15 } : undefined

const announce = Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
  "port" in address ? Console.log(`http://127.0.0.1:${address.port}/`) : Effect.die(new Error("the desk has no port"))
)

/** Help is said already where the usage was wrong. */
const tell = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(error)) return Effect.void
  return Console.error(`desk: ${error instanceof Error ? error.message : String(error)}`)
}

// Whoever stops the desk has got what they asked for.
const exitCode = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  return CliError.isCliError(Cause.squash(exit.cause)) ? 2 : 1
}

Command.run(desk, { version: "0.1.0" }).pipe(
  Effect.provide([NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatSimple)])]),
  Effect.tapCause(tell),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown: (exit, onExit) => onExit(exitCode(exit)) })
)
