import { ledgerSuite } from "@colloquy/ledger/testing/Suite"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { newFile } from "./files.ts"

ledgerSuite(
  "ledgers, in a SQLite file",
  Layer.unwrap(Effect.map(newFile, (filename) => SqliteStorage.layer({ filename, synchronous: "normal" })))
)

ledgerSuite(
  "ledgers, over another SQLite client",
  Layer.unwrap(
    Effect.map(newFile, (filename) => Layer.provide(SqliteStorage.layerClient(), SqliteClient.layer({ filename })))
  )
)
