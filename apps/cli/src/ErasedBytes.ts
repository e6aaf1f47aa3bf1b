/**
 * What people are told of the bytes of what they have erased.
 */

/** Honest about what lies outside of the database, and about readers of it. */
export const erasedBytesText = (bytes: "gone" | "pending"): string =>
  bytes === "gone"
    ? "no byte of its content is left in the database; backups and archives keep theirs"
    : "a reader still holds its bytes: erase it again once nobody reads"
