/**
 * What every store of ledgers must do, as cases, and a runner for them. The suite for vitest is
 * `@colloquy/ledger/testing/Suite`.
 *
 * @since 0.1.0
 */
export { type LedgerCase, type LedgerStores, LedgerViolation } from "./Case.ts"
export { type LedgerFailpointCase, ledgerFailpointCases } from "./Failpoints.ts"
export { ledgerContract, ledgerContractSize, type Report, run } from "./Contract.ts"
