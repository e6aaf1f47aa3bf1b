/**
 * Measures appending and reading against the same work by hand, and prints ratios. Fails nothing.
 */
import { MemoryStorage } from "@colloquy/storage-memory"
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Limit from "./Limit.ts"
import * as Measure from "./Measure.ts"
import * as Ours from "./Ours.ts"

const quick = process.argv.includes("--quick")
const rounds = quick ? 5 : 11
const count = quick ? 150 : 500

const directory = mkdtempSync(join(tmpdir(), "colloquy-bench-"))

const print = (title: string, unit: string, measured: ReadonlyArray<Measure.Measured>): void => {
  console.log(`\n${title} (${unit})`)
  for (const { median, name, ratio, spread } of measured) {
    const range = `${spread[0].toFixed(2)} to ${spread[1].toFixed(2)}`
    console.log(`  ${name.padEnd(30)} ${median.toFixed(1).padStart(9)}   ${ratio.toFixed(2)} × (${range})`)
  }
}

const timed = (work: () => void): number => {
  const start = performance.now()
  work()
  return (performance.now() - start) * 1000
}

for (const synchronous of ["full", "normal"] as const) {
  const limit = Limit.open(join(directory, `limit-${synchronous}.db`), synchronous === "full" ? "FULL" : "NORMAL")
  const ours = await Ours.open(
    SqliteStorage.layer({ filename: join(directory, `ours-${synchronous}.db`), synchronous })
  )
  const appended = await Measure.compare(
    [
      {
        name: "by hand",
        round: async (round) =>
          timed(() => {
            for (let n = round * count; n < (round + 1) * count; n++) limit.append(n)
          }) / count
      },
      { name: "ConversationStore.append", round: (round) => ours.append(round * count, count) }
    ],
    rounds
  )
  print(`append of 3 records, synchronous ${synchronous}`, "µs a batch", appended)
  if (synchronous === "normal") {
    const records = (rounds + 1) * count * 3
    const read = await Measure.compare(
      [
        { name: "SELECT and JSON.parse", round: async () => timed(() => void limit.read()) / records },
        { name: "read, not verified", round: () => ours.read(false) },
        { name: "read, verified", round: () => ours.read(true) }
      ],
      rounds
    )
    print(`read of ${records} records`, "µs a record", read)
  }
  limit.close()
  await ours.close()
}

const memory = await Ours.open(MemoryStorage.layer)
const growing = await Measure.compare(
  [{ name: "MemoryStorage", round: (round) => memory.append(round * count, count) }],
  rounds
)
print("append of 3 records in memory", "µs a batch", growing)
await memory.close()

rmSync(directory, { recursive: true, force: true })
