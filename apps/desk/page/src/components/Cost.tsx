/**
 * What tokens cost at the desk's prices; nothing where it has none.
 */
import { costOf } from "@colloquy/capabilities/BudgetTally"
import type { Usage } from "@colloquy/session/Usage"
import { createContext, use } from "react"
import type { Prices } from "../../../src/api/Prices.ts"
import { cost, number } from "../format.ts"

export const PricesContext = createContext<Prices | undefined>(undefined)

/** The cost of a usage, as a person reads it. */
export const useCost = (usage: Usage | undefined): string | undefined => {
  const prices = use(PricesContext)
  if (prices === undefined || usage === undefined) return undefined
  return cost(costOf(usage, undefined, { models: {}, otherwise: prices }), prices.currency)
}

export const Cost = ({ usage }: { readonly usage: Usage | undefined }) => {
  const prices = use(PricesContext)
  const text = useCost(usage)
  if (prices === undefined || text === undefined) return null
  const { currency, input, output } = prices
  return <span title={`At ${number(input)} / ${number(output)} ${currency} for a million tokens in / out`}>{text}</span>
}
