/**
 * All cases of the contract, in one list.
 *
 * @since 0.1.0
 */
import { appendCases } from "./AppendCases.ts"
import { batchCases } from "./BatchCases.ts"
import type { ConformanceCase } from "./Case.ts"
import { checkOrderCases } from "./CheckOrderCases.ts"
import { checkpointCases } from "./CheckpointCases.ts"
import { clockCases } from "./ClockCases.ts"
import { concurrencyCases } from "./ConcurrencyCases.ts"
import { eraseCases } from "./EraseCases.ts"
import { exportCases } from "./ExportCases.ts"
import { forkCases } from "./ForkCases.ts"
import { importBatchesCases } from "./ImportBatchesCases.ts"
import { importCases } from "./ImportCases.ts"
import { largeImportCases } from "./LargeImportCases.ts"
import { limitCases } from "./LimitCases.ts"
import { listCases } from "./ListCases.ts"
import { materializeCases } from "./MaterializeCases.ts"
import { observeCases } from "./ObserveCases.ts"
import { readCases } from "./ReadCases.ts"
import { redactCases } from "./RedactCases.ts"
import { redactRequestCases } from "./RedactRequestCases.ts"
import { refusedForkCases } from "./RefusedForkCases.ts"
import { refusedImportCases } from "./RefusedImportCases.ts"
import { replayCases } from "./ReplayCases.ts"
import { summaryCases } from "./SummaryCases.ts"
import { tenantCases } from "./TenantCases.ts"
import { unicodeCases } from "./UnicodeCases.ts"
import { verifyCases } from "./VerifyCases.ts"

/**
 * What every store must do. Cases have ids of their own, so all of them can run on one store, once.
 *
 * @category cases
 * @since 0.1.0
 */
export const contract: ReadonlyArray<ConformanceCase> = [
  ...materializeCases,
  ...appendCases,
  ...checkOrderCases,
  ...replayCases,
  ...readCases,
  ...observeCases,
  ...batchCases,
  ...exportCases,
  ...importCases,
  ...refusedImportCases,
  ...largeImportCases,
  ...importBatchesCases,
  ...checkpointCases,
  ...listCases,
  ...summaryCases,
  ...verifyCases,
  ...unicodeCases,
  ...limitCases,
  ...concurrencyCases,
  ...clockCases,
  ...forkCases,
  ...refusedForkCases,
  ...redactCases,
  ...redactRequestCases,
  ...eraseCases,
  ...tenantCases
]

/**
 * How many cases there are: a list that is shorter has lost some.
 *
 * @category cases
 * @since 0.1.0
 */
export const contractSize = 461
