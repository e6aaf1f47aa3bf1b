/**
 * AI SDK providers as Effect language models.
 *
 * @since 0.1.0
 */
export * as AiSdkModel from "./AiSdkModel.ts"
export type { CallSettings } from "./CallSettings.ts"
export * as ContextOverflow from "./ContextOverflow.ts"
