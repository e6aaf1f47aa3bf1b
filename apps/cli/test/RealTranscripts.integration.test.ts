/**
 * Two real transcripts, from a folder beside the repository: 100 support conversations, and a long coding session.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { folder, value, values } from "./colloquy.ts"

const data = process.env["COLLOQUY_DATA"] ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url))
const support = join(data, "airline-support.jsonl")
const coding = join(data, "coding-session.jsonl")
const isAbsent = !existsSync(support) || !existsSync(coding)

interface Report {
  readonly imported: number
  readonly unchanged: number
  readonly records: number
  readonly renamedCallIds: number
  readonly repairs: ReadonlyArray<{ readonly kind: string; readonly count: number }>
}

const sums = ({ repairs }: Report) => {
  const counts: { [kind: string]: number } = {}
  for (const { count, kind } of repairs) counts[kind] = (counts[kind] ?? 0) + count
  return counts
}

describe.skipIf(isAbsent)(
  `real transcripts${isAbsent ? ` (skipped, no data in ${data}; set COLLOQUY_DATA)` : ""}`,
  () => {
    it(
      "are imported whole, repaired and reported, and give prompts that providers take",
      { timeout: 60_000 },
      async () => {
        const home = folder()
        const into = ["--db", "a.db", "--json"]
        const first = value<Report>((await home.run("import", support, ...into)).stdout)
        assert.deepInclude(first, { imported: 100, unchanged: 0, renamedCallIds: 38 })
        assert.deepStrictEqual(sums(first), { "run-without-response": 76 })

        const second = value<Report>((await home.run("import", coding, ...into)).stdout)
        assert.deepInclude(second, { imported: 1, unchanged: 0, renamedCallIds: 0 })
        assert.deepStrictEqual(sums(second), {
          "call-without-result": 18,
          "aborted-response": 21,
          "failed-response": 1,
          "empty-response": 14,
          "unfinished-call": 3
        })

        const [again, verified, exported] = await Promise.all([
          home.run("import", support, ...into),
          home.run("verify", "--prompts", ...into),
          home.run("export", "--all", "--out", "all.ndjson", ...into)
        ])
        assert.deepInclude(value<object>(again.stdout), { imported: 0, unchanged: 100, records: 0 })
        assert.deepInclude(value<object>(verified.stdout), {
          ok: true,
          conversations: 101,
          records: first.records + second.records,
          faults: []
        })
        assert.strictEqual(exported.code, 0)

        await home.run("import", "all.ndjson", "--db", "b.db")
        const tails = async (db: string) =>
          values((await home.run("list", "--db", db, "--json")).stdout).map(({ conversationId, tail }) => [
            conversationId,
            tail
          ])
        assert.deepStrictEqual(await tails("b.db"), await tails("a.db"))
      }
    )
  }
)
