/**
 * A digest as text, apart from how one is computed: what models are made of loads where there is nothing of Node.
 */
import * as Schema from "effect/Schema"

/**
 * A SHA-256 digest as 64 lower-case hex digits.
 *
 * @category models
 * @since 0.1.0
 */
export const Digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)).pipe(Schema.brand("Digest"))
/** @since 0.1.0 */
export type Digest = typeof Digest.Type
