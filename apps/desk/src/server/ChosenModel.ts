/**
 * Which model answers at this desk and what it costs, for whoever shows it or explains its errors.
 */
import type { ModelChoice } from "@colloquy/models/ModelChoice"
import * as Context from "effect/Context"
import type { Prices } from "../api/Prices.ts"

export class ChosenModel extends Context.Service<ChosenModel, ModelChoice>()("@colloquy/desk/ChosenModel") {}

/** What it costs, if anybody has said so. */
export const ModelPrices = Context.Reference<Prices | undefined>("@colloquy/desk/ModelPrices", {
  defaultValue: () => undefined
})

/** What people call it. */
export const titleOf = (chosen: ModelChoice): string =>
  chosen.provider === "offline" ? "offline" : `${chosen.provider}/${chosen.model}`
