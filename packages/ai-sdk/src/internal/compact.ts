/**
 * Objects for an interface that tells a field that is left out from one that is undefined.
 */

export type Compact<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The fields that are not undefined. */
export const compact = <T extends object>(fields: T): Compact<T> =>
  // `fromEntries` forgets the keys; what it was given is `fields` without the undefined ones, as the type says.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Compact<T>
