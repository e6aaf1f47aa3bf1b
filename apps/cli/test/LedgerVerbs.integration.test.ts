/**
 * The verbs of the ledger, on a file whose turns a session ledger has recorded.
 */
import type * as Account from "@colloquy/ledger/Account"
import { ConversationKey } from "@colloquy/ledger/ConversationKey"
import * as LedgerSettings from "@colloquy/ledger/LedgerSettings"
import * as LedgerStore from "@colloquy/ledger/LedgerStore"
import * as SessionLedger from "@colloquy/ledger/SessionLedger"
import { AgentName, ConversationId, RunId } from "@colloquy/session/Ids"
import * as SqliteStorage from "@colloquy/storage-sqlite/SqliteStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, beforeAll, describe, it } from "vitest"
import * as Json from "../src/JsonOutput.ts"
import { type Ended, errorOf, folder, type Folder } from "./colloquy.ts"
import { allOf, oneOf } from "./json.ts"
import * as Terminal from "./terminal.ts"

const into = ["--db", "a.db", "--json"] as const
const old = Date.UTC(2020, 0, 2, 3, 4, 5)

const withLedger = <A, E>(home: Folder, use: Effect.Effect<A, E, SessionLedger.SessionLedger>): Promise<A> =>
  Effect.runPromise(
    Effect.provide(
      use,
      SessionLedger.layer().pipe(
        Layer.provide(LedgerSettings.layer),
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

/** Makes the entry of a run one that cannot be read. */
const damage = (home: Folder, run: string): void => {
  const database = new DatabaseSync(join(home.path, "a.db"))
  database.prepare("UPDATE ledger_entries SET entry = '{}' WHERE work_key = ?").run(`work ${run}`)
  database.close()
}

/** What a verb has ended with, and the warning that it has to give. */
const warned = (ended: Ended): Ended => {
  assert.match(ended.stderr, /entry turn\/.* cannot be read and is left out/)
  return { ...ended, stderr: "" }
}

/** Keeps a rewrite of ada's oldest turn in place of one that a model would make, and gives it. */
const rewritten = (home: Folder): Promise<Account.Account> =>
  Effect.gen(function* () {
    const store = yield* LedgerStore.LedgerStore
    const name = { agent: AgentName.make("ada"), conversationKey: ConversationKey.make("slack:D1") }
    const [oldest] = (yield* store.read(name)).entries
    assert.isDefined(oldest)
    const text = "POC-7 was commented on.\u001b[2J\nAll is well."
    const account = { covers: [oldest!.entry.entryId], lines: ["- run-1 replied"], text }
    assert.isTrue(yield* store.saveAccount(name, account))
    return account
  }).pipe(Effect.provide(SqliteStorage.layer({ filename: join(home.path, "a.db") })), Effect.runPromise)

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

  it.concurrent("names a row that cannot be read behind the others, and renders the block without it", async () => {
    const home = filled()
    damage(home, "run-1")
    const args = ["slack:D1", "--agent", "ada"] as const
    const [shown] = allOf(Json.LedgerShown, await home.run("ledger", "show", ...args, ...into))
    assert.deepStrictEqual(
      [shown?.entries.map(({ entry }) => entry.runId), shown?.unreadable.map(({ ordinal }) => ordinal)],
      [[RunId.make("run-2")], [1]]
    )
    const { stdout } = await home.run("ledger", "show", ...args, "--db", "a.db")
    assert.match(stdout, /^slack:D1 ada · 1 entry\n[^]*\n\n1 turn\/of run-1\/run-1 cannot be read: [^\n]+\n$/)
    const rendered = oneOf(Json.LedgerRendered, warned(await home.run("ledger", "render", ...args, ...into)))
    assert.deepInclude(rendered, { whole: 1, condensed: 0, leftOut: 0 })
  })

  it.concurrent("shows the rewrite of older turns behind them, and nothing in it steers a terminal", async () => {
    const home = filled()
    const account = await rewritten(home)
    const args = ["ledger", "show", "slack:D1", "--agent", "ada"] as const
    assert.deepStrictEqual(allOf(Json.LedgerShown, await home.run(...args, ...into))[0]?.account, account)
    const { stdout } = await home.run(...args, "--db", "a.db")
    assert.match(stdout, /^slack:D1 ada · 2 entries · a rewrite of 1 older turn\n/)
    assert.include(stdout, "\n  older turns, rewritten: POC-7 was commented on.\\x1b[2J\n    All is well.\n")
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

  it.concurrent("writes nothing where the next turn would be given nothing, and says so", async () => {
    const home = filled()
    damage(home, "run-4")
    const empty = await home.run("ledger", "render", "jira:POC-7", "--db", "a.db")
    assert.deepStrictEqual([empty.code, empty.stdout], [0, ""])
    assert.match(empty.stderr, /colloquy: the next turn would be given nothing\n$/)
    const json = oneOf(Json.LedgerRendered, warned(await home.run("ledger", "render", "jira:POC-7", ...into)))
    assert.deepInclude(json, { text: "", bytes: 0, whole: 0 })
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
    const again = await erase("slack:D1")
    assert.deepStrictEqual([again.removed.entries, again.bytes], [0, "gone"])
    const people = await home.run("ledger", "erase", "--agent", "bob", "--yes", "--db", "a.db")
    assert.match(people.stdout, /^the ledgers of bob: removed: 1 entry\nno byte of its content is left in the database/)
    const nobody = await home.run("ledger", "erase", "slack:D9", "--yes", "--db", "a.db")
    assert.match(nobody.stdout, /nothing was there; colloquy ledger list/)
    assert.deepStrictEqual(await names(home), [])
  })

  it.concurrent("says of bytes that a reader still holds that they are there, until it is repeated", async () => {
    const home = filled()
    const reader = new DatabaseSync(join(home.path, "a.db"))
    reader.exec("BEGIN")
    assert.strictEqual(Number(reader.prepare("SELECT count(*) AS rows FROM ledger_entries").get()?.["rows"]), 4)
    const erase = ["ledger", "erase", "slack:D1", "--yes"] as const
    assert.strictEqual(oneOf(Json.LedgerErasure, await home.run(...erase, ...into)).bytes, "pending")
    assert.match((await home.run(...erase, "--db", "a.db")).stdout, /a reader still holds its bytes: erase it again/)
    reader.exec("COMMIT")
    assert.strictEqual(oneOf(Json.LedgerErasure, await home.run(...erase, ...into)).bytes, "gone")
    reader.close()
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
