/**
 * What `--db` names.
 */
export type DatabaseName =
  | { readonly _tag: "Sqlite"; readonly path: string }
  | { readonly _tag: "Postgres"; readonly url: string }

/**
 * Reads a path, `sqlite:path` or a Postgres URL; throws what is wrong with anything else.
 */
export const parseDatabase = (text: string): DatabaseName => {
  if (/^postgres(ql)?:/i.test(text)) return { _tag: "Postgres", url: text }
  const path = text.replace(/^sqlite:(\/\/)?/i, "")
  if (path.trim() === "") throw new Error("Expected a path, for example ./conversations.db")
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) throw new Error("Expected a path, sqlite:path or postgres://…")
  return { _tag: "Sqlite", path }
}

/** The database as messages name it. */
export const describe = (name: DatabaseName): string => (name._tag === "Sqlite" ? name.path : withoutSecrets(name.url))

/** A Postgres URL without user and password, for messages. */
export const withoutSecrets = (url: string): string => url.replace(/\/\/[^/@]*@/, "//").replace(/\?.*$/, "")
