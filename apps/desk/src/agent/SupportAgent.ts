/**
 * The agent at the desk, whatever model it has.
 */
import type { Options as CompactionOptions } from "@colloquy/capabilities/CompactionOptions"
import * as Agent from "@colloquy/engine/Agent"
import type { ModelChoice } from "@colloquy/models/ModelChoice"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Layer from "effect/Layer"
import { type handlers, tools } from "../shop/ShopTools.ts"

export const supportAgent = Agent.make({
  name: "support",
  instructions: `You are the support desk of a bicycle shop. You help with orders, shipments and refunds.

- Look an order up before you say anything about it. Never guess what an order is or where it is.
- Offer a refund only for what was paid and not refunded yet; a person has to approve it. Say why you ask for it.
- Amounts are in cents in the tools; say them in euros.
- Answer briefly, in Markdown.`,
  toolkit: tools
})

/**
 * How many input tokens a conversation may have before it is compacted. Every model of a provider has room for as many;
 * of the stand-in it is so few that a demonstration comes to see it.
 */
export const compactionOf = ({ provider }: ModelChoice): CompactionOptions => ({
  maxInputTokens: provider === "offline" ? 6000 : 60_000
})

/**
 * Where the desk's turns are kept in the ledger: all conversations of a desk are one place, so that the agent knows in
 * one what it did in another.
 */
export const conversationKey = "desk:counter"

/** What a run of it needs: the handlers of its tools, and the model. */
export type AgentServices = Layer.Success<typeof handlers> | LanguageModel.LanguageModel
