/**
 * Makes one write to a ledger and is killed by itself at a failpoint, before another statement runs. Ends well when it never
 * comes there. Arguments: file, failpoint.
 */
import { Failpoints } from "@colloquy/ledger"
import { ledgerFailpointCases } from "@colloquy/ledger/testing"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const [filename = "", failpoint = ""] = process.argv.slice(2)

const killed = Layer.succeed(Failpoints.Failpoints, (point) =>
  Effect.sync(() => {
    if (point === failpoint) process.kill(process.pid, "SIGKILL")
  })
)

const found = ledgerFailpointCases.find(({ point }) => point === failpoint)
if (found === undefined) throw new Error(`there is no failpoint ${failpoint}`)
await Effect.runPromise(Effect.provide(found.act, Layer.provide(SqliteStorage.layer({ filename }), killed)))
