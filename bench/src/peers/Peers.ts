/**
 * All peers that can be had here, and of the others why not.
 */
import * as ChatPersistence from "./ChatPersistence.ts"
import * as Emmett from "./Emmett.ts"
import * as LangGraph from "./LangGraph.ts"
import * as Mastra from "./Mastra.ts"
import * as OpenAiAgents from "./OpenAiAgents.ts"
import { install, isInstalled, messageOf } from "./Packages.ts"
import type { Found, Peer } from "./Peer.ts"

/** With `installs` their packages are brought in first; without, those that are there are used. */
export const find = async (options: { readonly installs: boolean }): Promise<ReadonlyArray<Found>> => {
  const own = await attempt("Effect Chat.Persistence", ChatPersistence.find)
  const fault = options.installs
    ? await install()
    : isInstalled()
      ? undefined
      : "not installed; a run without --quick does that"
  const others = await Promise.all(
    Object.entries(installed).map(([name, find]) =>
      fault === undefined ? attempt(name, find) : { name, missing: fault }
    )
  )
  return [own, ...others]
}

export const isPeer = (found: Found): found is Peer => !("missing" in found)

// --- internal ---

const installed = {
  Emmett: Emmett.find,
  LangGraph: LangGraph.find,
  Mastra: Mastra.find,
  "OpenAI Agents": OpenAiAgents.find
}

const attempt = async (name: string, find: () => Promise<Peer>): Promise<Found> => {
  try {
    return await find()
  } catch (error) {
    return { name, missing: messageOf(error) }
  }
}
