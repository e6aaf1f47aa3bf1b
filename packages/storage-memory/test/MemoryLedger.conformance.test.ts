import { ledgerSuite } from "@colloquy/ledger/testing/Suite"
import { MemoryStorage } from "@colloquy/storage-memory"

ledgerSuite("ledgers, in memory", MemoryStorage.layer)
