/**
 * How old something must be, as people write it: `30d`, `12h`, `90 minutes`, `2 weeks`.
 */
import * as Duration from "effect/Duration"

/** The age in milliseconds; throws what is wrong with the text. Zero is no age: it would mean everything. */
export const parseAge = (text: string): number => {
  const [, count = "", unit = ""] = /^(\d+)\s*([a-z]+)$/.exec(text.trim()) ?? []
  const millis = units.find(({ names }) => names.test(unit))?.millis ?? 0
  const age = Number(count) * millis
  if (age > 0 && age <= longest) return age
  throw new Error(`${JSON.stringify(text)} is no age: a number above zero and its unit, such as 30d, 12h or "2 weeks"`)
}

// --- internal ---

const units = [
  { names: /^(m|min|minutes?)$/, millis: Duration.toMillis("1 minute") },
  { names: /^(h|hours?)$/, millis: Duration.toMillis("1 hour") },
  { names: /^(d|days?)$/, millis: Duration.toMillis("1 day") },
  { names: /^(w|weeks?)$/, millis: Duration.toMillis("1 week") }
]

/** A thousand years: what is behind it was a slip, and times stay in the calendar. */
const longest = Duration.toMillis("365000 days")
