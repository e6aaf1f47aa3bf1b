/**
 * Which model answers at this desk, for whoever shows it or explains its errors.
 */
import type { ModelChoice } from "@colloquy/models/ModelChoice"
import * as Context from "effect/Context"

export class ChosenModel extends Context.Service<ChosenModel, ModelChoice>()("@colloquy/desk/ChosenModel") {}

/** What people call it. */
export const titleOf = (chosen: ModelChoice): string =>
  chosen.provider === "offline" ? "offline" : `${chosen.provider}/${chosen.model}`
