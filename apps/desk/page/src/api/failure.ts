/**
 * What a person is told of a failure.
 */

/** The words of an error of the API; of anything else what it most likely means. */
export const describe = (error: unknown): string => {
  if (typeof error !== "object" || error === null || !("_tag" in error)) return "The page failed. Reload it."
  if (error._tag === "HttpClientError") return "The server does not answer."
  if (error._tag === "SchemaError") return "The server answered in a form this page does not know. Reload the page."
  return "message" in error && typeof error.message === "string" ? error.message : String(error._tag)
}

/** Whether the error is the one of this tag. */
export const isTagged = (error: unknown, tag: string): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === tag
