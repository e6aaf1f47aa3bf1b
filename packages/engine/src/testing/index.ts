/**
 * For tests of agents: a model that says what it is told to, and one that says again what was recorded.
 *
 * @since 0.1.0
 */
export * as ReplayModel from "./ReplayModel.ts"
export * as ScriptedModel from "./ScriptedModel.ts"
