/**
 * Which id each conversation of a file is imported under.
 */
import { idFault } from "@colloquy/session/Ids"

/** An id, and whether it stands in for one that the file has twice. */
export interface Name {
  readonly id: string
  readonly isRepeated: boolean
  /** What is wrong with it as an id. */
  readonly fault: string | undefined
}

/**
 * Names the conversations of a file, in its order; `ids` are those that the file gives, if it gives one.
 *
 * One without an id is named after the file: the first `stem`, the third `stem-3`. A second one with the same id is a
 * conversation of its own, and refusing the file would help nobody: it becomes `id_2`, or the next id that no other
 * conversation of the file has. The prefix stands before all of them. The same file gives the same names every time, and
 * so does one that has grown at its end.
 */
export const nameAll = (
  ids: ReadonlyArray<string | undefined>,
  { prefix, stem }: { readonly prefix: string; readonly stem: string }
): ReadonlyArray<Name> => {
  const wanted = ids.map((id, i) => id ?? (i === 0 ? stem : `${stem}-${i + 1}`))
  const reserved = new Set(wanted)
  const given = new Set<string>()
  return wanted.map((id) => {
    let free = id
    for (let n = 2; given.has(free) || (free !== id && reserved.has(free)); n++) free = `${id}_${n}`
    given.add(free)
    return { id: prefix + free, isRepeated: free !== id, fault: idFault(prefix + free) }
  })
}
