/**
 * The id of a conversation, as an argument.
 */
import { ConversationId } from "@colloquy/session/Ids"
import * as Argument from "effect/cli/Argument"

export const conversationArgument = Argument.String("conversation").pipe(
  Argument.withSchema(ConversationId),
  Argument.withDescription("The id of a conversation")
)
