/** The server under load, in a process of its own: `server.ts <file>`. Tells its address, and its memory when asked. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as OfflineModel from "../src/agent/OfflineModel.ts"
import * as Authorization from "../src/server/Authorization.ts"
import * as Listening from "../src/server/Listening.ts"
import * as RequestLimits from "../src/server/RequestLimits.ts"
import * as Wiring from "../src/server/Wiring.ts"

const [filename = ""] = process.argv.slice(2)

const served = Wiring.layer({
  filename,
  pageRoot: "/nowhere",
  chosen: { provider: "offline" },
  model: OfflineModel.layer()
}).pipe(
  Layer.provide([Authorization.layer(Authorization.loopbackOnly), RequestLimits.layer({ requests: 1_000_000 })]),
  Layer.provideMerge(Listening.layer(0))
)

const announce = Effect.flatMap(HttpServer.HttpServer, ({ address }) =>
  Effect.sync(() => process.send?.({ port: "port" in address ? address.port : 0 }))
)

process.on("message", () => {
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  process.send?.({ heapUsed, rss, cpu: process.cpuUsage() })
})

NodeRuntime.runMain(Layer.launch(Layer.provideMerge(Layer.effectDiscard(announce), served)))
