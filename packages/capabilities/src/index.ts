/**
 * What surrounds a run.
 *
 * @since 0.1.0
 */
export * as CommandQueues from "./CommandQueues.ts"
