#!/usr/bin/env node
/**
 * The entry of the process: runs the command line on Node and exits with its code.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { run } from "./Cli.ts"

// A reader that has gone is told by the failed write; the event of it has nothing to add, and unheard it would throw.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

NodeRuntime.runMain(Effect.provide(run, NodeServices.layer), {
  disableErrorReporting: true,
  teardown: (exit, onExit) => {
    // A terminal that was read from would keep the process alive.
    if (process.stdin.isTTY) process.stdin.unref()
    onExit(Exit.isSuccess(exit) && typeof exit.value === "number" ? exit.value : Number(process.exitCode ?? 130))
  }
})
