/**
 * One tenant's part of a database: its ids, of conversations and of settings, are stored behind a prefix that no id can
 * have, and taken off again. Whoever looks through it sees nothing else; another tenant's id is one that is not there.
 */
import { TenantId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConversationDriver, Head } from "../ConversationDriver.ts"
import type { SettingsDriver } from "../SettingsDriver.ts"
import type { StoreUnavailable } from "../StoreError.ts"

type Driver = ConversationDriver["Service"]

export const make = (driver: Driver, tenant: string): Driver => {
  const { end, inside, outside } = partOf(tenant)
  const headOutside = (head: Head): Head => ({
    ...head,
    conversationId: outside(head.conversationId),
    forkedFrom: head.forkedFrom === null ? null : outside(head.forkedFrom)
  })
  const headInside = (head: Partial<Omit<Head, "conversationId">>) =>
    typeof head.forkedFrom === "string" ? { ...head, forkedFrom: inside(head.forkedFrom) } : head
  return {
    head: (id) => Effect.map(driver.head(inside(id)), Option.map(headOutside)),
    batch: (id, batchId) => driver.batch(inside(id), batchId),
    batchEndingAt: (id, sequence) => driver.batchEndingAt(inside(id), sequence),
    records: (range) => driver.records({ ...range, conversationId: inside(range.conversationId) }),
    recordIds: (id, ids) => driver.recordIds(inside(id), ids),
    callIds: (id, ids) => driver.callIds(inside(id), ids),
    checkpoints: (id, atOrBefore) => driver.checkpoints(inside(id), atOrBefore),
    list: ({ after, before, limit, status }) =>
      Effect.map(
        driver.list({
          after: inside(after),
          before: before === undefined ? end : inside(before),
          limit,
          status
        }),
        (heads) => heads.map(headOutside)
      ),
    forks: (id) => Effect.map(driver.forks(inside(id)), (ids) => ids.map(outside)),
    commit: (commit) =>
      driver.commit({
        ...commit,
        conversationId: inside(commit.conversationId),
        head: headInside(commit.head),
        ...(commit.adopt === undefined ? {} : { adopt: inside(commit.adopt) })
      }),
    erase: (id, updatedAt) => driver.erase(inside(id), updatedAt),
    scrub: driver.scrub,
    discard: (id) => driver.discard(inside(id)),
    changes: driver.changes
  }
}

export const ofSettings = (driver: SettingsDriver["Service"], tenant: string): SettingsDriver["Service"] => {
  const { end, inside, outside } = partOf(tenant)
  const rowOutside = <Row extends { readonly settingsId: string }>(row: Row): Row => ({
    ...row,
    settingsId: outside(row.settingsId)
  })
  return {
    get: (id) => Effect.map(driver.get(inside(id)), Option.map(rowOutside)),
    put: (row, expected) => driver.put({ ...row, settingsId: inside(row.settingsId) }, expected),
    remove: (id) => driver.remove(inside(id)),
    list: ({ after, before, limit }) =>
      Effect.map(
        driver.list({ after: inside(after), before: before === undefined ? end : inside(before), limit }),
        (rows) => rows.map(rowOutside)
      )
  }
}

/** Who has conversations, each found behind the last one of the tenant before it. */
export const list = (driver: Driver): Stream.Stream<TenantId, StoreUnavailable> =>
  Stream.paginate<string, TenantId, StoreUnavailable, never>(mark, (after) =>
    Effect.map(driver.list({ after, before: behindTenants, limit: 1, status: undefined }), ([head]) => {
      if (head === undefined) return [[], Option.none()]
      const tenant = TenantId.make(head.conversationId.slice(1, head.conversationId.indexOf(mark, 1)))
      return [[tenant], Option.some(partOf(tenant).end)]
    })
  )

// --- internal ---

const mark = "\u0001"
const behindTenants = "\u0002"

const partOf = (tenant: string) => {
  const prefix = `${mark}${tenant}${mark}`
  return {
    inside: (id: string) => prefix + id,
    outside: (id: string) => id.slice(prefix.length),
    /** Behind every id of the tenant. */
    end: `${mark}${tenant}${behindTenants}`
  }
}
