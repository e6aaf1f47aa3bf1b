/**
 * What a million tokens cost, so that a page can say what a run did. Written `3/15`, or `3/15 EUR`: input, output, currency.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** `currency` is a code of ISO 4217. */
export const Prices = Schema.Struct({
  currency: Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/)),
  input: Amount,
  output: Amount
})
export interface Prices extends Schema.Schema.Type<typeof Prices> {}

/** Reads prices as people write them, or says how they are written. */
export const parse = (text: string): Result.Result<Prices, string> => {
  const found = /^\s*(\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)(?:\s+([A-Z]{3}))?\s*$/.exec(text)
  if (found === null) return Result.fail(`prices are written like 3/15, or 3/15 EUR, not ${JSON.stringify(text)}`)
  const [, input, output, currency = "USD"] = found
  return Result.succeed({ currency, input: Number(input), output: Number(output) })
}
