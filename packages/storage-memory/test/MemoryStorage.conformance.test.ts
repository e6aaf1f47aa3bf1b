import { settingsSuite, suite } from "@colloquy/store/testing/Suite"
import { MemoryStorage } from "@colloquy/storage-memory"

suite("the contract, in memory", MemoryStorage.layer)

settingsSuite("settings, in memory", MemoryStorage.layer)
