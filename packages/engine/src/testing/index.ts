/**
 * For tests of agents: a model that says what it is told to.
 *
 * @since 0.1.0
 */
export * as ScriptedModel from "./ScriptedModel.ts"
