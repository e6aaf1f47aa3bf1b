/**
 * The verbs of the ledger, on a file whose turns a session ledger has recorded.
 */
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import * as LedgerSettings from "@colloquy/ledger/LedgerSettings"
import * as SessionLedger from "@colloquy/ledger/SessionLedger"
import { AgentName, ConversationId, RunId } from "@colloquy/session/Ids"
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import * as Json from "../src/JsonOutput.ts"
import { errorOf, folder, type Folder } from "./colloquy.ts"
import { allOf, oneOf } from "./json.ts"
import * as Terminal from "./terminal.ts"

const into = ["--db", "a.db", "--json"] as const
const old = Date.UTC(2020, 0, 2, 3, 4, 5)

const withLedger = <A, E>(home: Folder, use: Effect.Effect<A, E, SessionLedger.SessionLedger>): Promise<A> =>
  Effect.runPromise(
    Effect.provide(
      use,
      SessionLedger.layer().pipe(
        Layer.provide(LedgerSettings.layer()),
        Layer.provide(SqliteStorage.layer({ filename: join(home.path, "a.db") }))
      )
    )
  )

const record = Effect.fnUntraced(function* (agent: string, conversationKey: string, run: string, at?: number) {
  const outcome = yield* (yield* SessionLedger.SessionLedger).record({
    agent: AgentName.make(agent),
    runId: RunId.make(run),
    conversationKey,
    conversationId: ConversationId.make(`of ${run}`),
    workKey: `work ${run}`,
    at,
    trigger: `asked in ${run}\u001b[2J`,
    calls: [{ name: "comment", arguments: { issue: "POC-7" }, outcome: "success" }],
    delivery: "replied",
    reply: `answered in ${run}\nand more`,
    decision: "done"
  })
  assert.strictEqual(outcome._tag, "Recorded")
})

/** Two agents under `slack:D1`, the first with two turns, one of them old; one agent under `jira:POC-7`. */
const template = folder()
/** A database without a turn. */
const empty = folder()

beforeAll(async () => {
  await withLedger(empty, Effect.void)
  await withLedger(
    template,
    Effect.gen(function* () {
      yield* record("ada", "slack:D1", "run-1", old)
      yield* record("ada", "slack:D1", "run-2")
      yield* record("bob", "slack:D1", "run-3")
      yield* record("bob", "jira:POC-7", "run-4")
    })
  )
})

const filled = (): Folder => {
  const home = folder()
  home.copy(template, "a.db")
  return home
}

const names = async (home: Folder) =>
  allOf(Json.LedgerListed, await home.run("ledger", "list", ...into)).map(
    ({ agent, conversationKey, entries }) => `${conversationKey} ${agent} ${entries}`
  )

const fails = async (home: Folder, args: ReadonlyArray<string>, code: number, tag: string, message: RegExp) => {
  const ended = await home.run("ledger", ...args, ...into)
  assert.deepStrictEqual([ended.code, ended.stdout, errorOf(ended.stderr).tag], [code, "", tag], args.join(" "))
  assert.match(errorOf(ended.stderr).message, message)
}

describe("ledger list", () => {
  it.concurrent("has a line for each ledger, and none for a database without a turn", async () => {
    assert.deepStrictEqual(await names(filled()), ["jira:POC-7 bob 1", "slack:D1 ada 2", "slack:D1 bob 1"])
    assert.match((await filled().run("ledger", "list", "--db", "a.db")).stdout, /slack:D1 +ada +2 {2}2\d{3}-/)
    const home = folder()
    home.copy(empty, "a.db")
    assert.deepStrictEqual(await names(home), [])
  })
})

describe("ledger show", () => {
  it.concurrent("shows the turns of all agents, or of one, and nothing in them steers a terminal", async () => {
    const home = filled()
    const all = allOf(Json.LedgerShown, await home.run("ledger", "show", "slack:D1", ...into))
    assert.deepStrictEqual(
      all.map(({ agent, entries }) => [agent, ...entries.map(({ entry }) => entry.runId)]),
      [
        ["ada", "run-1", "run-2"],
        ["bob", "run-3"]
      ]
    )
    const { stdout } = await home.run("ledger", "show", "slack:D1", "--agent", "ada", "--db", "a.db")
    assert.match(stdout, /^slack:D1 ada · 2 entries\n\n1 2020-01-02 03:04:05 done, replied run run-1/)
    assert.include(stdout, "  trigger: asked in run-1\\x1b[2J\n")
    assert.include(stdout, '  - comment({"issue":"POC-7"}) → success\n')
    assert.include(stdout, "  reply: answered in run-1\n    and more\n")
    assert.notInclude(stdout, "run-3")
  })

  it.concurrent("says of a key or an agent without a ledger what is there", async () => {
    const home = filled()
    const nothing = /^there is no ledger under slack:D9 in a\.db: colloquy ledger list shows what is there$/
    await fails(home, ["show", "slack:D9"], 1, "LedgerAbsent", nothing)
    await fails(home, ["render", "slack:D9"], 1, "LedgerAbsent", nothing)
    await fails(home, ["show", "slack:D1", "--agent", "eve"], 1, "LedgerAbsent", /of eve .* one of ada, bob$/)
  })
})

/** A fence is drawn anew for each block, and an age is counted when it is made. */
const still = (text: string): string =>
  text.replace(/quoted [0-9a-f]{8}/g, "quoted").replace(/, (just now|\d+ \w+ ago)$/gm, "")

describe("ledger render", () => {
  it.concurrent("writes the block that a turn is given, of one agent", async () => {
    const home = filled()
    const request = { agent: AgentName.make("ada"), conversationKey: ConversationKey.make("slack:D1") }
    const given = await withLedger(
      home,
      Effect.flatMap(SessionLedger.SessionLedger, (ledger) => ledger.earlier(request))
    )
    const args = ["ledger", "render", "slack:D1", "--agent", "ada"]
    const rendered = oneOf(Json.LedgerRendered, await home.run(...args, ...into))
    assert.strictEqual(still(rendered.text), still(given.text))
    assert.deepInclude(rendered, { whole: 2, condensed: 0, leftOut: 0 })
    const { stdout } = await home.run(...args, "--db", "a.db")
    assert.strictEqual(still(stdout), `${still(given.text)}\n`)
    await fails(home, ["render", "slack:D1"], 2, "ValidationError", /has ledgers of ada, bob: .*--agent/)
  })
})

describe("ledger sweep", () => {
  it.concurrent("removes what is older, and says how much", async () => {
    const home = filled()
    const swept = oneOf(Json.LedgerSweep, await home.run("ledger", "sweep", "--older-than", "30d", "--yes", ...into))
    assert.strictEqual(swept.removed.entries, 1)
    assert.isAbove(swept.before, old)
    assert.include(await names(home), "slack:D1 ada 1")
    const again = await home.run("ledger", "sweep", "--older-than", "2 weeks", "-y", "--db", "a.db")
    assert.match(again.stdout, /^nothing is from before \d{4}-.* UTC$/m)
  })

  it.concurrent("refuses what is no age", async () => {
    const home = filled()
    for (const age of ["0d", "30", "soon", "1e9d", "99999999w", ""]) {
      await fails(home, ["sweep", "--older-than", age, "--yes"], 2, "InvalidValue", /30d, 12h/)
    }
    await fails(home, ["sweep", "--yes"], 2, "MissingOption", /older-than/)
    assert.lengthOf(await names(home), 3)
  })
})

describe("ledger erase", () => {
  it.concurrent("takes a key, an agent or a conversation, and may be repeated", async () => {
    const home = filled()
    const erase = async (...args: ReadonlyArray<string>) =>
      oneOf(Json.LedgerErasure, await home.run("ledger", "erase", ...args, "--yes", ...into))
    assert.deepInclude(await erase("--conversation", "of run-1"), { conversationId: ConversationId.make("of run-1") })
    assert.deepStrictEqual(await names(home), ["jira:POC-7 bob 1", "slack:D1 ada 1", "slack:D1 bob 1"])
    assert.strictEqual((await erase("slack:D1")).removed.entries, 2)
    assert.strictEqual((await erase("slack:D1")).removed.entries, 0)
    const people = await home.run("ledger", "erase", "--agent", "bob", "--yes", "--db", "a.db")
    assert.strictEqual(people.stdout, "the ledgers of bob: removed: 1 entry\n")
    const nobody = await home.run("ledger", "erase", "slack:D9", "--yes", "--db", "a.db")
    assert.match(nobody.stdout, /nothing was there; colloquy ledger list/)
    assert.deepStrictEqual(await names(home), [])
  })

  it.concurrent("wants one of the three, and a yes where nobody can be asked", async () => {
    const home = filled()
    await fails(home, ["erase", "--yes"], 2, "ValidationError", /one of them/)
    await fails(home, ["erase", "slack:D1", "--agent", "ada", "--yes"], 2, "ValidationError", /one of them/)
    await fails(home, ["erase", "slack:D1"], 2, "ValidationError", /--yes/)
    await fails(home, ["sweep", "--older-than", "1d"], 2, "ValidationError", /--yes/)
    await fails(home, ["show", "no key"], 2, "InvalidValue", /no colon/)
    assert.lengthOf(await names(home), 3)
  })

  it.concurrent("asks at a terminal, and goes on with a yes only", async () => {
    const home = filled()
    const answers = (line: string) =>
      Effect.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const args = ["ledger", "erase", "slack:D1", "--db", join(home.path, "a.db")]
            const terminal = yield* Terminal.start(args)
            yield* terminal.sees("Erase the ledgers under slack:D1? This cannot be undone. [y/N]")
            yield* terminal.type(line)
            return [yield* terminal.exitCode, terminal.screen()] as const
          })
        )
      )
    const [refused, screen] = await answers("n")
    assert.strictEqual(refused, 1)
    assert.include(screen, "were not erased: answer y, or say --yes")
    assert.lengthOf(await names(home), 3)
    assert.strictEqual((await answers("y"))[0], 0)
    assert.deepStrictEqual(await names(home), ["jira:POC-7 bob 1"])
  })
})

describe("ledger alias", () => {
  it.concurrent("lets a key stand for another one, unless it has entries of its own", async () => {
    const home = filled()
    const alias = { alias: "jira:NEW-7", of: "jira:POC-7" }
    assert.deepEqual(oneOf(Json.LedgerAlias, await home.run("ledger", "alias", alias.alias, alias.of, ...into)), {
      alias: ConversationKey.make(alias.alias),
      of: ConversationKey.make(alias.of)
    })
    const [shown] = allOf(Json.LedgerShown, await home.run("ledger", "show", alias.alias, ...into))
    assert.deepStrictEqual([shown?.agent, shown?.entries.length], ["bob", 1])
    await fails(home, ["alias", "slack:D1", alias.of], 1, "InvalidLedgerRequest", /has entries of its own/)
  })
})
