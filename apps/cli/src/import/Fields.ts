/**
 * Reads fields of parsed JSON whose shape nobody has promised.
 */
export type Fields = { readonly [name: string]: unknown }

export const isFields = (u: unknown): u is Fields => typeof u === "object" && u !== null && !Array.isArray(u)

export const asText = (u: unknown): string | undefined => (typeof u === "string" ? u : undefined)

/** A set of field names, written with spaces between them. */
export const fieldNames = (names: string): ReadonlySet<string> => new Set(names.split(" "))

/** The fields that are not `known` and say something; nothing when there are none. */
export const others = (fields: Fields, known: ReadonlySet<string>): Fields | undefined => {
  const rest = Object.entries(fields).filter(([name, value]) => !known.has(name) && value !== null)
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

/**
 * A point in time as UTC milliseconds: an ISO text, or a number of seconds or milliseconds since 1970.
 */
export const asMillis = (u: unknown): number | undefined => {
  const millis = typeof u === "string" ? Date.parse(u) : typeof u === "number" ? (u < 1e11 ? u * 1000 : u) : Number.NaN
  return Number.isFinite(millis) ? Math.round(millis) : undefined
}

/** The same object without the fields that are undefined: optional keys of a record are absent, not undefined. */
export const present = <A extends object>(fields: A): Present<A> =>
  // `Object.entries` forgets the keys; what is taken out is exactly what the type makes optional.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<A>

// --- internal ---

type Present<A> = {
  [K in keyof A as undefined extends A[K] ? never : K]: A[K]
} & {
  [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined>
}
