/**
 * Providers on this machine, for tests: HTTP servers that speak the protocols of real ones and answer as a script says.
 *
 * @since 0.1.0
 */
export * as Anthropic from "./Anthropic.ts"
export * as OpenAiChat from "./OpenAiChat.ts"
export * as OpenAiResponses from "./OpenAiResponses.ts"
export * as Server from "./Server.ts"
export * as Turn from "./Turn.ts"
