/** A store that no two processes share, and that nobody opens again: what the process cases must find. */
import { MemoryStorage } from "@colloquy/storage-memory"

const open = (_directory: string) => MemoryStorage.layer

export default open
