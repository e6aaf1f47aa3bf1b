/**
 * Why a run does not start, or does not go on.
 *
 * @since 0.1.0
 */
import { ApprovalId, ConversationId, RunId } from "@colloquy/session/Ids"
import { InputKind } from "@colloquy/session/Vocabulary"
import * as Schema from "effect/Schema"

export { DecisionRejected } from "./Approvals.ts"

/**
 * A run of the conversation goes on in this process. Wait for it, or cancel it.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConversationBusy extends Schema.TaggedError<ConversationBusy>("@colloquy/engine/ConversationBusy")(
  "ConversationBusy",
  { conversationId: ConversationId, runId: RunId }
) {
  override get message() {
    return `run ${this.runId} goes on in ${this.conversationId}: wait for its end, or cancel it`
  }
}

/**
 * The conversation has a run of this id already. Resume it while it is unfinished; give a new run a new id.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunExists extends Schema.TaggedError<RunExists>("@colloquy/engine/RunExists")("RunExists", {
  conversationId: ConversationId,
  runId: RunId,
  status: Schema.Literals(["unfinished", "ended"])
}) {
  override get message() {
    const way = this.status === "unfinished" ? "resume it" : "give a new run a new id"
    return `run ${this.runId} of ${this.conversationId} is ${this.status}: ${way}`
  }
}

/**
 * The conversation has an input of this id already, so no run was started with it: it was delivered again. Nothing was
 * stored.
 *
 * **Details**
 *
 * `runId` is the run that has read it, or will, `kind` how it came there, `sequence` its record. With the `same` words
 * there is nothing to start: if a crash has cut that run off, resume it; to run the input again, as after a failure, give the
 * run an id of its own. With `other` words it is another input: give it another id. What was `redacted` cannot be compared.
 *
 * @category errors
 * @since 0.1.0
 */
export class InputExists extends Schema.TaggedError<InputExists>("@colloquy/engine/InputExists")("InputExists", {
  conversationId: ConversationId,
  inputId: Schema.String,
  runId: RunId,
  sequence: Schema.Natural,
  kind: InputKind,
  words: Schema.Literals(["same", "other", "redacted"])
}) {
  override get message() {
    const { conversationId, inputId, runId, sequence, words } = this
    const way =
      words === "other"
        ? "it says something else: give a new input a new id"
        : "resume that run if it is unfinished; to run the input again give the run an id of its own"
    return `input ${inputId} is in ${conversationId} already, at ${sequence} in run ${runId}: ${way}`
  }
}

/**
 * There is no run to go on with: the last one has ended, or none has ever started. Start a run with an input.
 *
 * @category errors
 * @since 0.1.0
 */
export class NothingToResume extends Schema.TaggedError<NothingToResume>("@colloquy/engine/NothingToResume")(
  "NothingToResume",
  { conversationId: ConversationId, reason: Schema.Literals(["ended", "never-started", "unknown-conversation"]) }
) {
  override get message() {
    const why = {
      ended: "its last run has ended",
      "never-started": "no run has started in it",
      "unknown-conversation": "there is no such conversation"
    }
    return `nothing to resume in ${this.conversationId}: ${why[this.reason]}; start a run with an input`
  }
}

/**
 * The run waits for people to decide. `AgentRuntime.approvals` shows what it asks and `AgentRuntime.decide` goes on with
 * it; a run that is started with an input closes the requests.
 *
 * @category errors
 * @since 0.1.0
 */
export class AwaitingApproval extends Schema.TaggedError<AwaitingApproval>("@colloquy/engine/AwaitingApproval")(
  "AwaitingApproval",
  { conversationId: ConversationId, runId: RunId, approvalIds: Schema.Array(ApprovalId) }
) {
  override get message() {
    const { approvalIds, conversationId, runId } = this
    return (
      `run ${runId} of ${conversationId} waits for decisions on ${approvalIds.join(", ")}: AgentRuntime.approvals shows ` +
      "what it asks, and AgentRuntime.decide goes on with it"
    )
  }
}

/**
 * The log names an agent that is not the one at hand. Resume with that agent.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownAgent extends Schema.TaggedError<UnknownAgent>("@colloquy/engine/UnknownAgent")("UnknownAgent", {
  conversationId: ConversationId,
  recorded: Schema.String,
  given: Schema.String
}) {
  override get message() {
    return `the run of ${this.conversationId} is ${this.recorded}'s, not ${this.given}'s: resume it with ${this.recorded}`
  }
}

/**
 * A text that is to be an id is none. Nothing was stored; the caller corrects the id.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidId extends Schema.TaggedError<InvalidId>("@colloquy/engine/InvalidId")("InvalidId", {
  what: Schema.String,
  id: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${JSON.stringify(this.id.slice(0, 80))} is no ${this.what}: ${this.reason}`
  }
}

/**
 * An option of a run is out of its bounds. Nothing was stored; the caller corrects the option.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidOption extends Schema.TaggedError<InvalidOption>("@colloquy/engine/InvalidOption")(
  "InvalidOption",
  { option: Schema.String, value: Schema.String, reason: Schema.String }
) {
  override get message() {
    return `${this.option} is ${this.value}: ${this.reason}`
  }
}

/**
 * The prompt is larger than the model's window. Nothing of the response is stored. Start a shorter conversation, give the
 * agent a model with a larger window, or shorten what it is shown.
 *
 * @category errors
 * @since 0.1.0
 */
export class ContextTooLarge extends Schema.TaggedError<ContextTooLarge>("@colloquy/engine/ContextTooLarge")(
  "ContextTooLarge",
  {
    conversationId: Schema.UndefinedOr(ConversationId),
    runId: RunId,
    model: Schema.UndefinedOr(Schema.String),
    cause: Schema.Defect()
  }
) {
  override get message() {
    const model = this.model ?? "the model"
    return `the prompt of run ${this.runId} is larger than the window of ${model}: shorten it, or use a larger window`
  }
}

/**
 * The conversation had used what it may before this run, so no model was called. The end is stored as `failed`; give the
 * conversation more room, or begin another one.
 *
 * @category errors
 * @since 0.1.0
 */
export class BudgetExhausted extends Schema.TaggedError<BudgetExhausted>("@colloquy/engine/BudgetExhausted")(
  "BudgetExhausted",
  {
    conversationId: Schema.UndefinedOr(ConversationId),
    runId: RunId,
    limit: Schema.String,
    used: Schema.Finite,
    maximum: Schema.Finite
  }
) {
  override get message() {
    return `run ${this.runId} may use no more ${this.limit}: ${this.used} of ${this.maximum} are used`
  }
}

/**
 * There are no stored settings of this id, or no store of settings. Nothing was stored; the caller corrects the id.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownSettings extends Schema.TaggedError<UnknownSettings>("@colloquy/engine/UnknownSettings")(
  "UnknownSettings",
  { settingsId: Schema.String, reason: Schema.String }
) {
  override get message() {
    return `settings ${JSON.stringify(this.settingsId.slice(0, 80))} cannot be used: ${this.reason}`
  }
}
