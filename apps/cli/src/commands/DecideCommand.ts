/**
 * `colloquy decide <request> approve | deny | answer`: decides a call that waits, and goes on with its run.
 */
import * as Approvals from "@colloquy/engine/Approvals"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { present } from "../import/Fields.ts"
import { modelFlag } from "../model/ModelFlag.ts"
import { waiting } from "../talk/Approvals.ts"
import * as Talk from "../talk/Talk.ts"
import * as Talking from "../talk/Talking.ts"
import { wrongUsage } from "../WrongUsage.ts"

/**
 * Nothing that waits is named so, or more than one. Nothing was decided.
 *
 * @public
 */
export class RequestAbsent extends Schema.TaggedError<RequestAbsent>("@colloquy/cli/RequestAbsent")("RequestAbsent", {
  named: Schema.String,
  candidates: Schema.Array(Schema.String)
}) {
  override get message() {
    return this.candidates.length === 0
      ? `nothing that waits is named ${this.named}: colloquy approvals lists what does`
      : `${this.named} names ${this.candidates.length} requests: say which, ${this.candidates.join(" or ")}`
  }
}

export const decideCommand = Command.make(
  "decide",
  {
    request: Argument.String("request").pipe(
      Argument.withDescription("The id of the approval or of its call, or a conversation in which one request waits")
    ),
    decision: Argument.Literals("decision", ["approve", "deny", "answer"]).pipe(
      Argument.withDescription("Let the call run, refuse it, or give an answer in its place")
    ),
    always: Flag.Boolean("always").pipe(
      Flag.withDefault(false),
      Flag.withDescription("With approve: allow this tool from now on in this conversation")
    ),
    result: Flag.String("result").pipe(
      Flag.optional,
      Flag.withDescription("With answer: what stands for the call's result, as JSON or else as text")
    ),
    reason: Flag.String("reason").pipe(Flag.optional, Flag.withDescription("Why; the model is told")),
    author: Flag.String("author").pipe(Flag.optional, Flag.withDescription("Who decides; it is recorded")),
    model: modelFlag
  },
  Effect.fn("colloquy.decide")(function* ({ always, author, decision, model, reason, request: named, result }) {
    if ((decision === "answer") !== Option.isSome(result) || (always && decision !== "approve")) {
      return yield* wrongUsage("decide", "--result goes with answer, and --always with approve")
    }
    const said = present({ author: Option.getOrUndefined(author), reason: Option.getOrUndefined(reason) })
    const talk = Effect.gen(function* () {
      const isNamed = ({ approvalId, callId, conversationId }: Approvals.ApprovalRequest) =>
        [approvalId, callId, conversationId].some((id) => id === named)
      const matching = yield* Stream.runCollect(Stream.filter(waiting(undefined), isNamed))
      const [request, ...more] = matching
      if (request === undefined || more.length > 0) {
        return yield* new RequestAbsent({ named, candidates: matching.map(({ approvalId }) => approvalId) })
      }
      const { conversationId } = request
      const taken =
        decision === "approve"
          ? Approvals.approve(request, always ? { ...said, scope: "conversation" } : said)
          : decision === "deny"
            ? Approvals.deny(request, said)
            : Approvals.answer(request, parse(Option.getOrElse(result, () => "")), said)
      yield* Talk.play(conversationId, Talk.decide(conversationId, [taken]), undefined)
    })
    yield* Talking.withModel("decide", "read", model, talk)
  })
).pipe(
  Command.withDescription("Decide a call that waits, and go on with its run: what runs is the call as it is stored"),
  Command.withExamples([
    { command: "colloquy decide ticket-42 approve --db desk.db", description: "Let the one call that waits run" },
    {
      command: 'colloquy decide ticket-42 deny --reason "too much" --db desk.db',
      description: "Refuse it, and say why"
    }
  ])
)

// --- internal ---

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
