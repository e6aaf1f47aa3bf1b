/**
 * What a case works with: a store, ids that no other case uses, and producers that remember their place.
 *
 * @since 0.1.0
 */
import type { Batch, CanonicalRecord } from "@colloquy/session/CanonicalRecord"
import { derive } from "@colloquy/session/DerivedId"
import { ConversationId, ProducerId, TenantId } from "@colloquy/session/Ids"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConversationStore, Tenants } from "../ConversationStore.ts"
import type { AppendError, ReadError, StoreUnavailable, Tail } from "../StoreError.ts"
import type { Appended, AppendRequest, Summary } from "../StoreModel.ts"
import { batch, created } from "./Records.ts"

type Store = ConversationStore["Service"]

/**
 * The place of a case.
 *
 * @category models
 * @since 0.1.0
 */
export class Scenario {
  readonly store: Store
  private readonly name: string
  private readonly tenants: Tenants["Service"]

  constructor(name: string, store: Store, tenants: Tenants["Service"]) {
    this.name = name
    this.store = store
    this.tenants = tenants
  }

  /** The same place, with the same ids, of one tenant of this case. */
  tenant(suffix: string): Scenario {
    const tenant = TenantId.make(derive("conformance", this.name, suffix))
    return new Scenario(this.name, this.tenants.store(tenant), this.tenants)
  }

  /** The tenants of this case that the database knows, by their suffixes. */
  knownTenants() {
    const prefix = `${derive("conformance", this.name)}/`
    return Effect.map(Stream.runCollect(this.tenants.list), (tenants) =>
      tenants.flatMap((tenant) => (tenant.startsWith(prefix) ? [tenant.slice(prefix.length)] : []))
    )
  }

  /** A conversation of this case. */
  id(suffix = "it"): ConversationId {
    return ConversationId.make(derive("conformance", this.name, suffix))
  }

  /** Takes a conversation over, creating an empty one if it is absent. */
  takeOver(conversationId: ConversationId = this.id(), producer = "owner") {
    const producerId = ProducerId.make(producer)
    return Effect.map(
      this.store.materialize({ conversationId, producerId }),
      ({ epoch, tail }) => new Producer(this.store, conversationId, producerId, epoch, tail)
    )
  }

  /** A new conversation whose first batch, `created`, is in. */
  begin(conversationId: ConversationId = this.id(), producer = "owner") {
    return Effect.tap(this.takeOver(conversationId, producer), (owner) => owner.append(batch("created", created())))
  }

  /** The whole log. */
  log(conversationId: ConversationId = this.id()): Effect.Effect<ReadonlyArray<CanonicalRecord>, ReadError> {
    return Stream.runCollect(this.store.read({ conversationId }))
  }

  /** Where the log ends. */
  tail(conversationId: ConversationId = this.id()) {
    return Effect.map(this.store.tail({ conversationId }), ({ digest, sequence }): Tail => ({ sequence, digest }))
  }

  /** The conversations of this case, as the list has them. */
  listed(): Effect.Effect<ReadonlyArray<Summary>, StoreUnavailable> {
    const prefix = ConversationId.make(`${derive("conformance", this.name)}/`)
    return Stream.runCollect(
      this.store
        .list({ after: prefix })
        .pipe(Stream.takeWhile(({ conversationId }) => conversationId.startsWith(prefix)))
    )
  }
}

/**
 * Who writes to a conversation. Remembers the tail that its own appends have reached.
 *
 * @category models
 * @since 0.1.0
 */
export class Producer {
  readonly store: Store
  readonly conversationId: ConversationId
  readonly producerId: ProducerId
  readonly epoch: number
  tail: Tail

  constructor(store: Store, conversationId: ConversationId, producerId: ProducerId, epoch: number, tail: Tail) {
    this.store = store
    this.conversationId = conversationId
    this.producerId = producerId
    this.epoch = epoch
    this.tail = tail
  }

  /** A request to append a batch behind what this producer knows, with fields of its own. */
  request(batch: Batch, fields: Partial<AppendRequest> = {}): AppendRequest {
    const { conversationId, epoch, producerId, tail } = this
    return { conversationId, batch, expectedTail: tail, epoch, producerId, ...fields }
  }

  /** Appends behind what this producer knows, and moves on. */
  append(batch: Batch): Effect.Effect<Appended, AppendError> {
    return Effect.suspend(() => this.store.append(this.request(batch))).pipe(
      Effect.tap(({ tail }) =>
        Effect.sync(() => {
          this.tail = tail
        })
      )
    )
  }

  /** Appends, and moves nowhere. */
  attempt(batch: Batch, fields: Partial<AppendRequest> = {}): Effect.Effect<Appended, AppendError> {
    return Effect.suspend(() => this.store.append(this.request(batch, fields)))
  }
}
