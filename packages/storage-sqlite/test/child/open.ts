/** How every process of a test opens the store that they share. */
import { SqliteStorage } from "@colloquy/storage-sqlite"
import { join } from "node:path"

const open = (directory: string) =>
  SqliteStorage.layer({ filename: join(directory, "conversations.db"), busyTimeout: "300 millis" })

export default open
