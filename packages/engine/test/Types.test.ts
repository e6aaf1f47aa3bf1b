/** What the compiler says of agents: what a run of one may fail with, what it needs, and what its answer is. */
import { describe, expectTypeOf, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as AiError from "effect/ai/AiError"
import type * as Model from "effect/ai/Model"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Agent, type AgentHost, AgentRuntime, Agents, type AgentError, type Run } from "../src/index.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}
class Silent extends Schema.TaggedError<Silent>()("Silent", {}) {}
class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", {}) {}
class NoModel extends Schema.TaggedError<NoModel>()("NoModel", {}) {}
class Orders extends Context.Service<Orders, { readonly find: Effect.Effect<string> }>()("test/Orders") {}
class Profile extends Context.Service<Profile, { readonly name: string }>()("test/Profile") {}
class ApiKey extends Context.Service<ApiKey, string>()("test/ApiKey") {}

/** Fails the run. */
const Pay = Tool.make("pay", {
  success: Schema.String,
  failure: Refused,
  failureMode: "error",
  dependencies: [Orders]
})
/** Fails its call. */
const Ask = Tool.make("ask", { success: Schema.String, failure: Silent, failureMode: "return" })
/** Waits for a person. */
const Ship = Tool.make("ship", { success: Schema.String, needsApproval: true })

type Model = LanguageModel.LanguageModel
type HandlerOf<T> = T extends Toolkit.Toolkit<infer Tools> ? Tool.HandlersFor<Tools> : never

const payKit = Toolkit.make(Pay)
const askKit = Toolkit.make(Ask, Ship)

const plain = Agent.make({ name: "plain", instructions: "x" })
const payer = Agent.make({ name: "payer", instructions: "x", toolkit: payKit })
const asker = Agent.make({ name: "asker", instructions: "x", toolkit: askKit })
const reader = Agent.make({
  name: "reader",
  instructions: Effect.gen(function* () {
    const { name } = yield* Profile
    return name === "" ? yield* new Unreadable() : `You help ${name}.`
  })
})
const ownModel = Agent.make({
  name: "own",
  instructions: "x",
  model: Layer.effectContext(
    Effect.gen(function* () {
      yield* ApiKey
      return yield* new NoModel()
    })
  ) as Layer.Layer<Model | Model.ProviderName | Model.ModelName, NoModel, ApiKey>
})
const sums = Agent.make({ name: "sums", instructions: "x", output: Schema.Struct({ sum: Schema.Int }) })
const lead = Agent.make({
  name: "lead",
  instructions: "x",
  delegates: [Agent.handoff(payer), Agent.background(reader), Agent.handoff(ownModel)]
})

/** Every run may fail with the model's error, and so may a toolkit. */
type Own<E> = Exclude<E, AiError.AiError>

type ErrorOf<S> =
  S extends Agent.Agent<infer E, infer _R, infer _A>
    ? Own<E>
    : S extends Agents.Agents<infer E, infer _R, infer _A>
      ? Own<E>
      : never
type NeedOf<S> =
  S extends Agent.Agent<infer _E, infer R, infer _A>
    ? R
    : S extends Agents.Agents<infer _E, infer R, infer _A>
      ? R
      : never

const runOf = <E, R, A>(agent: Agent.Agent<E, R, A>) => AgentRuntime.run(agent, "go", {})

describe("the type of an agent", () => {
  it("without tools: fails with nothing of its own, and needs a model", () => {
    expectTypeOf(plain).toEqualTypeOf<Agent.Agent<never, Model>>()
    const run = runOf(plain)
    expectTypeOf<Effect.Error<typeof run>>().toEqualTypeOf<Run.RunError<never>>()
    expectTypeOf<Effect.Services<typeof run>>().toEqualTypeOf<AgentRuntime.AgentRuntime | Model>()
  })

  it("with a tool that may fail a run: its error, its handler and what that needs", () => {
    expectTypeOf<ErrorOf<typeof payer>>().toEqualTypeOf<Refused>()
    expectTypeOf<NeedOf<typeof payer>>().toEqualTypeOf<Model | Orders | HandlerOf<typeof payKit>>()
    const run = runOf(payer)
    expectTypeOf<Effect.Error<typeof run>>().toEqualTypeOf<Run.RunError<Refused>>()
  })

  it("and the model's error can be taken out of what any run fails with", () => {
    const told = <A, E, R>(run: Effect.Effect<A, E | AiError.AiError, R>) =>
      Effect.catchIf(run, AiError.isAiError, () => Effect.fail(new Silent()))
    const run = told(runOf(payer))
    expectTypeOf<Effect.Error<typeof run>>().toEqualTypeOf<Exclude<Run.RunError<Refused>, AiError.AiError> | Silent>()
  })

  it("with tools whose failures the model sees, and with approvals: their handlers alone", () => {
    expectTypeOf<ErrorOf<typeof asker>>().toEqualTypeOf<never>()
    expectTypeOf<NeedOf<typeof asker>>().toEqualTypeOf<Model | HandlerOf<typeof askKit>>()
    const decided = AgentRuntime.decide(asker, "c", [])
    expectTypeOf<Effect.Error<typeof decided>>().toEqualTypeOf<Run.RunError<never> | Run.DecideError>()
    const resumed = AgentRuntime.resumeIfNeeded(asker, "c")
    expectTypeOf<Extract<Effect.Error<typeof resumed>, AgentError.NothingToResume>>().toEqualTypeOf<never>()
    expectTypeOf<AgentError.AwaitingApproval>().toExtend<Effect.Error<typeof resumed>>()
  })

  it("with instructions that are an effect: what that fails with and needs", () => {
    expectTypeOf<ErrorOf<typeof reader>>().toEqualTypeOf<Unreadable>()
    expectTypeOf<NeedOf<typeof reader>>().toEqualTypeOf<Model | Profile>()
  })

  it("with a model of its own: none of the caller's, but what the layer needs and fails with", () => {
    expectTypeOf<ErrorOf<typeof ownModel>>().toEqualTypeOf<NoModel>()
    expectTypeOf<NeedOf<typeof ownModel>>().toEqualTypeOf<ApiKey>()
    const run = runOf(ownModel)
    expectTypeOf<Effect.Services<typeof run>>().toEqualTypeOf<AgentRuntime.AgentRuntime | ApiKey>()
  })

  it("with delegates: what all of them fail with and need, and no scope", () => {
    expectTypeOf<ErrorOf<typeof lead>>().toEqualTypeOf<Refused | Unreadable | NoModel>()
    expectTypeOf<NeedOf<typeof lead>>().toEqualTypeOf<Model | Orders | HandlerOf<typeof payKit> | Profile | ApiKey>()
    const run = runOf(lead)
    expectTypeOf<Extract<Effect.Services<typeof run>, Scope.Scope>>().toEqualTypeOf<never>()
  })

  it("with an output: its value, else never", () => {
    const run = runOf(sums)
    expectTypeOf<Effect.Success<typeof run>["value"]>().toEqualTypeOf<{ readonly sum: number } | undefined>()
    const none = runOf(plain)
    expectTypeOf<Effect.Success<typeof none>["value"]>().toEqualTypeOf<undefined>()
  })

  it("gathered: what any of them fails with, all that they need, and any of their answers", () => {
    const agents = Agents.make(payer, ownModel, sums)
    expectTypeOf<ErrorOf<typeof agents>>().toEqualTypeOf<Refused | NoModel>()
    expectTypeOf<NeedOf<typeof agents>>().toEqualTypeOf<Model | Orders | HandlerOf<typeof payKit> | ApiKey>()
    const resumed = AgentRuntime.resume(agents, "c")
    expectTypeOf<Effect.Error<typeof resumed>>().toEqualTypeOf<Run.RunError<Refused | NoModel> | Run.ResumeError>()
    expectTypeOf<Effect.Success<typeof resumed>["value"]>().toEqualTypeOf<{ readonly sum: number } | undefined>()
  })

  it("as a host: it fails also with the model's error", () => {
    expectTypeOf<Effect.Success<typeof plain.host>>().toExtend<AgentHost.AgentHost<unknown>>()
    expectTypeOf<Effect.Services<typeof plain.host>>().toEqualTypeOf<Model | Scope.Scope>()
  })
})
