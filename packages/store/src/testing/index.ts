/**
 * The conformance kit: what every store must do, as cases, and a runner for them. The suite for vitest is
 * `@colloquy/store/testing/Suite`.
 *
 * @since 0.1.0
 */
export { type ConformanceCase, ConformanceViolation, type Stores } from "./Case.ts"
export { contract, contractSize } from "./Contract.ts"
export { settingsContract, settingsContractSize } from "./SettingsCases.ts"
export type { SettingsStores } from "./SettingsScenario.ts"
export { describe, type Options as RunOptions, type Report, run, runSettings } from "./Runner.ts"
export { modelCheck, type Options as ModelCheckOptions } from "./ModelCheck.ts"
export { type FailpointCase, failpointCases } from "./Failpoints.ts"
export { settingsFailpointCases } from "./SettingsFailpoints.ts"
export { type Options as ProcessOptions, type ProcessCase, processCases } from "./ProcessCases.ts"
export type { Shared } from "./ProcessChildren.ts"
