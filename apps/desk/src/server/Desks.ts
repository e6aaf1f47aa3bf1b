/**
 * A desk for each tenant: a runtime, queues, a tracker and writers of its own over the tenant's conversations.
 */
import * as CommandQueues from "@colloquy/capabilities/CommandQueues"
import * as ConversationTracker from "@colloquy/capabilities/ConversationTracker"
import * as AgentRuntime from "@colloquy/engine/AgentRuntime"
import * as LedgerSettings from "@colloquy/ledger/LedgerSettings"
import * as LedgerStore from "@colloquy/ledger/LedgerStore"
import * as SessionLedger from "@colloquy/ledger/SessionLedger"
import type { TenantId } from "@colloquy/session/Ids"
import * as Conversations from "@colloquy/store/Conversations"
import * as ConversationStore from "@colloquy/store/ConversationStore"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import { Caller } from "../api/Access.ts"
import { tools } from "../shop/ShopTools.ts"
import * as Changes from "./Changes.ts"
import * as GoingOn from "./GoingOn.ts"
import * as Receipts from "./Receipts.ts"
import * as Runs from "./Runs.ts"
import * as Sending from "./Sending.ts"

const ledger = SessionLedger.layerRecorder.pipe(
  Layer.provide(SessionLedger.layer({ isReadOnly: SessionLedger.readOnlyOf(tools) })),
  Layer.provide(LedgerSettings.layer)
)

// Fresh, since layers are built once for all, and no two tenants share a thing.
const deskOf = (tenant: TenantId) =>
  Layer.fresh(
    Layer.mergeAll(Sending.layer, GoingOn.layer).pipe(
      Layer.provideMerge(Runs.layer),
      Layer.provideMerge(AgentRuntime.layerWithout.pipe(Layer.provide(ledger))),
      Layer.provideMerge(
        Layer.mergeAll(
          CommandQueues.layer,
          ConversationTracker.layerUpdates(),
          Conversations.layer,
          Changes.layer,
          Receipts.layer
        )
      ),
      Layer.provideMerge(Layer.merge(ConversationStore.withTenant(tenant), LedgerStore.withTenant(tenant)))
    )
  )

/** What a desk has. */
type DeskServices = Layer.Success<ReturnType<typeof deskOf>>

type AtDesk = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, DeskServices> | Caller>

// What an effect needs beyond a desk is its caller's to give.
// @effect-diagnostics-next-line leakingRequirements:off
export class Desks extends Context.Service<
  Desks,
  {
    /** Runs an effect at the caller's desk. A desk stays open once it is: its runs go on when nobody is there. */
    readonly atDesk: AtDesk
    /** The same for what changes something: it is done to its end, though the caller goes away. */
    readonly changeAtDesk: AtDesk
  }
>()("@colloquy/desk/Desks") {}

export const layer = Layer.effect(
  Desks,
  Effect.gen(function* () {
    const desks = yield* LayerMap.make(deskOf, { idleTimeToLive: Duration.infinity })
    const scope = yield* Effect.scope
    const atDesk: AtDesk = (effect) =>
      Effect.scoped(
        Effect.flatMap(Caller, ({ tenant }) =>
          Effect.flatMap(desks.contextEffect(tenant), (services) => Effect.provide(effect, services))
        )
      )
    return Desks.of({
      atDesk,
      // A server interrupts what it does for a request whose line is cut.
      changeAtDesk: (effect) => Effect.flatMap(Effect.forkIn(atDesk(effect), scope), Fiber.join)
    })
  })
)
