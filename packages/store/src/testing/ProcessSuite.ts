/**
 * The cases of reopened and shared stores as a vitest suite. In a module of its own: nothing else of the kit needs
 * vitest.
 *
 * @since 0.1.0
 */
import { describe, it } from "@effect/vitest"
import { type Options, processCases } from "./ProcessCases.ts"
import type { Shared } from "./ProcessChildren.ts"

/**
 * Runs every case in a directory of its own, with child processes.
 *
 * **Example** (A whole test file, and the module beside it)
 *
 * ```ts
 * // test/child/open.ts
 * export default (directory: string) => MyStorage.layer({ directory })
 *
 * // test/Processes.test.ts
 * import open from "./child/open.ts"
 * import { processSuite } from "@colloquy/store/testing/ProcessSuite"
 *
 * processSuite("my storage", { open, module: new URL("child/open.ts", import.meta.url) })
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const processSuite = (name: string, shared: Shared, options: Options = {}): void => {
  describe(name, () => {
    for (const { name, run } of processCases(options)) it.live(name, () => run(shared), caseTimeoutMillis)
  })
}

// --- internal ---

const caseTimeoutMillis = 120_000
