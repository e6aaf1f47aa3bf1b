/**
 * The API's document, for programs and for people.
 */
import * as HttpApiScalar from "effect/http-api/HttpApiScalar"
import { DeskApi } from "../api/DeskApi.ts"

/** At `/docs`; loads nothing from elsewhere. */
export const layer = HttpApiScalar.layer(DeskApi, { path: "/docs", scalar: { withDefaultFonts: false } })
