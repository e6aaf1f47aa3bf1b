/**
 * Reads fields of parsed JSON whose shape nobody has promised.
 */
export type Fields = { readonly [name: string]: unknown }

export const isFields = (u: unknown): u is Fields => typeof u === "object" && u !== null && !Array.isArray(u)

export const asText = (u: unknown): string | undefined => (typeof u === "string" ? u : undefined)

/** A number of things: whole, and not negative. */
export const asCount = (u: unknown): number | undefined =>
  typeof u === "number" && Number.isSafeInteger(u) && u >= 0 ? u : undefined

/** Anything that is there. */
export const asIs = (u: unknown): unknown => u

/** A set of field names, written with spaces between them. */
export const fieldNames = (names: string): ReadonlySet<string> => new Set(names.split(" "))

/**
 * A point in time as whole UTC milliseconds: an ISO text, or a number of seconds or milliseconds since 1970. Nothing for
 * what lies before 1970 or behind the year 9999, where no conversation was held.
 */
export const asMillis = (u: unknown): number | undefined => {
  const time = typeof u === "string" ? Date.parse(u) : typeof u === "number" ? (u < 1e11 ? u * 1000 : u) : Number.NaN
  const millis = Math.round(time)
  return millis >= 0 && millis <= lastMillis ? millis : undefined
}

/** The same object without the fields that are undefined: optional keys of a record are absent, not undefined. */
export const present = <A extends object>(fields: A): Present<A> =>
  // `Object.entries` forgets the keys; what is taken out is exactly what the type makes optional.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<A>

// --- internal ---

const lastMillis = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

type Present<A> = {
  [K in keyof A as undefined extends A[K] ? never : K]: A[K]
} & {
  [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined>
}
