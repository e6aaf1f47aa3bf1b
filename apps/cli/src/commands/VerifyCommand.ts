/**
 * `colloquy verify [conversation]`: checks digests, chains and rules of stored logs, with `--prompts` also what models are
 * shown of them.
 */
import type { ConversationId, TenantId } from "@colloquy/session/Ids"
import { ConversationStore } from "@colloquy/store/ConversationStore"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Database from "../Database.ts"
import { Output } from "../Output.ts"
import { field, type Place, places, title } from "../Places.ts"
import { Progress } from "../Progress.ts"
import { Tenant } from "../Settings.ts"
import { type Fault, PromptCheck, type Repairs } from "../PromptCheck.ts"
import { counted, oneLine, table } from "../TerminalText.ts"
import { conversationArgument } from "./ConversationArgument.ts"

/**
 * Stored conversations have faults; the report on stdout names them.
 *
 * @public
 */
export class FaultsFound extends Schema.TaggedError<FaultsFound>("@colloquy/cli/FaultsFound")("FaultsFound", {
  faults: Schema.Natural,
  conversations: Schema.Natural,
  first: Schema.String
}) {
  override get message() {
    return (
      `verify found ${counted(this.faults, "fault")} in ${counted(this.conversations, "conversation")}, ` +
      `the first: ${this.first}; restore from a backup or an archive what has faults`
    )
  }
}

export const verifyCommand = Command.make(
  "verify",
  {
    conversation: Argument.optional(conversationArgument),
    prompts: Flag.Boolean("prompts").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Check also the prompt at the end of every run")
    )
  },
  Effect.fn("colloquy.verify")(
    function* ({ conversation, prompts }) {
      const output = yield* Output
      const report = yield* Effect.scoped(verifyAll(Option.getOrUndefined(conversation), prompts))
      const written = output.isJson ? output.json(report) : output.text(render(report))
      // Faults make the exit code, whether somebody reads the report to its end or not.
      yield* report.ok ? written : Effect.catchTag(written, "ReaderGone", () => Effect.void)
      const [first] = report.faults
      if (first === undefined) return
      return yield* new FaultsFound({
        faults: report.faults.length,
        conversations: new Set(report.faults.map(({ conversationId, tenant }) => title(conversationId, tenant))).size,
        first: `${title(first.conversationId, first.tenant)}, record ${first.sequence}: ${first.reason}`
      })
    },
    Effect.catchTag("ConversationNotFound", Database.absent)
  )
).pipe(
  Command.provide(Database.layer("verify", "read")),
  Command.withDescription("Check stored conversations: every digest, the chain, the rules of a log")
)

// --- internal ---

interface Report {
  readonly ok: boolean
  readonly conversations: number
  readonly records: number
  readonly batches: number
  readonly faults: ReadonlyArray<Fault & OfTenant>
  readonly prompts?: number
  readonly repairs?: ReadonlyArray<Repairs & OfTenant>
}

interface OfTenant {
  readonly tenant?: TenantId
}

const verifyAll = Effect.fnUntraced(function* (one: ConversationId | undefined, withPrompts: boolean) {
  const progress = yield* Progress
  const logs = yield* one === undefined ? allLogs : logOf(one)
  const advance = yield* progress.track(
    "verifying",
    logs.reduce((sum, { records }) => sum + records, 0)
  )
  const faults: Array<Fault & OfTenant> = []
  const repairs: Array<Repairs & OfTenant> = []
  const sums = { records: 0, batches: 0, prompts: 0 }
  for (const { conversationId, records, store, tenant } of logs) {
    const whose = field(tenant)
    const log = yield* store.verify({ conversationId })
    sums.records += log.records
    sums.batches += log.batches
    faults.push(...log.faults.map((fault) => ({ ...whose, ...fault })))
    if (withPrompts) {
      const check = yield* checkPrompts(store, conversationId)
      sums.prompts += check.prompts
      faults.push(...check.faults.map((fault) => ({ ...whose, ...fault })))
      repairs.push(...check.counts().map((repair) => ({ ...whose, ...repair })))
    }
    yield* advance(records)
  }
  const report: Report = {
    ok: faults.length === 0,
    conversations: logs.length,
    records: sums.records,
    batches: sums.batches,
    faults,
    ...(withPrompts ? { prompts: sums.prompts, repairs } : {})
  }
  return report
})

interface Log extends Place {
  readonly conversationId: ConversationId
  readonly records: number
}

const allLogs = Effect.gen(function* () {
  const logs: Array<Log> = []
  for (const place of yield* places) {
    yield* Stream.runForEach(place.store.list(), ({ conversationId, tail }) =>
      Effect.sync(() => void logs.push({ ...place, conversationId, records: tail.sequence }))
    )
  }
  return logs
})

const logOf = Effect.fnUntraced(function* (conversationId: ConversationId) {
  const store = yield* ConversationStore
  const { sequence } = yield* store.tail({ conversationId })
  const log: Log = { store, tenant: Option.getOrUndefined(yield* Tenant), conversationId, records: sequence }
  return [log]
})

const checkPrompts = Effect.fnUntraced(function* (store: Place["store"], conversationId: ConversationId) {
  const check = new PromptCheck(conversationId)
  yield* Stream.runForEach(store.read({ conversationId, verify: false }), (record) =>
    Effect.sync(() => check.read(record))
  ).pipe(
    // Damage was found by the check of the digests; the prompts behind it cannot be made.
    Effect.catchTag("CorruptRecord", () => Effect.void)
  )
  return check
})

const render = ({
  batches,
  conversations,
  faults,
  ok,
  prompts,
  records,
  repairs = []
}: Report): ReadonlyArray<string> => {
  const checked = [
    counted(conversations, "conversation"),
    counted(records, "record"),
    `${batches} batch${batches === 1 ? "" : "es"}`,
    ...(prompts === undefined ? [] : [counted(prompts, "prompt")])
  ]
  const lines = [`${checked.join(", ")}: ${ok ? "ok" : "NOT ok"}`]
  if (faults.length > 0) {
    const rows = faults.map(({ conversationId, reason, sequence, tenant }) => [
      oneLine(title(conversationId, tenant)),
      sequence,
      oneLine(reason)
    ])
    lines.push("", ...table(["conversation", "record", "fault"], rows))
  }
  if (repairs.length > 0) {
    const rows = repairs.map(({ conversationId, count, kind, tenant }) => [
      oneLine(title(conversationId, tenant)),
      kind,
      count
    ])
    lines.push("", ...table(["conversation", "not shown as it stands", "count"], rows))
  }
  return lines
}
