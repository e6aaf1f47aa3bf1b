/**
 * Bytes in the file: salts, digests, ids and their indexes beside the payloads.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Bench, Part } from "../Bench.ts"
import * as Limit from "../Limit.ts"
import { mean } from "../Measure.ts"
import * as Ours from "../Ours.ts"
import { type Peer, bytesOf } from "../peers/Peer.ts"
import { batches, batchSize, record } from "../Workload.ts"

export const measure: Part = async (bench) => {
  const conversations = bench.quick ? 200 : 1000
  const each = 30
  bench.note(`bytes of ${conversations} conversations of ${each} records`)
  const records = conversations * each
  const directory = bench.directory("disk")
  const ours = Ours.inFile(join(directory, "ours.db"), "normal")
  const limit = Limit.open(join(directory, "limit.db"), "normal")
  const logs = await Promise.all(Array.from({ length: conversations }, (_, i) => ours.log(`conversation-${i}`)))
  // Round robin: a batch for each conversation, then the next one.
  for (const batch of batches(0, each / batchSize)) {
    for (const [i, log] of logs.entries()) {
      await ours.run(log.append(batch))
      limit.append(i + 1, [batch])
    }
  }
  await ours.close()
  limit.close()
  const payload = mean(
    Array.from({ length: each }, (_, place) => Buffer.byteLength(JSON.stringify(record(place).payload)))
  )
  const used = bytesInFile(join(directory, "ours.db")) / records
  const byHand = bytesInFile(join(directory, "limit.db")) / records
  // By threes, since some peers keep every version of a conversation.
  const ofPeer = bench.quick ? 300 : 999
  const peers = await Promise.all(bench.peers.map((peer) => bytesOfPeer(bench, peer, ofPeer)))
  const best = peers
    .filter((peer) => peer !== undefined)
    .toSorted((a, b) => a.bytes - b.bytes)
    .at(0)
  return {
    rows: [
      {
        id: "disk-bytes",
        what: `bytes in the file, ${conversations.toLocaleString("en")} conversations × ${each} records in turn; a payload has ${payload.toFixed(0)}; the peer with one conversation of ${ofPeer.toLocaleString("en")}`,
        unit: "bytes a record",
        ours: used,
        limit: byHand,
        ...(best === undefined ? {} : { peer: best.bytes, peerName: best.name, ratioToPeer: used / best.bytes }),
        ratioToLimit: used / byHand,
        spread: [used - payload, used - payload],
        bar: "≤ payload + 260 (the spread is what comes on top of the payload)",
        ok: used - payload <= 260
      }
    ]
  }
}

// --- internal ---

/** After everything was moved from the log into the file. */
const bytesInFile = (filename: string): number => {
  const db = new DatabaseSync(filename)
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)")
  db.close()
  return bytesOf(filename)
}

const bytesOfPeer = async (bench: Bench, peer: Peer, records: number) => {
  if (peer.durability.includes("memory")) return undefined
  const directory = bench.directory(peer.name)
  const conversation = await peer.open({ directory, synchronous: "normal" })
  for (const batch of batches(0, records / batchSize)) await conversation.append(batch.records)
  await conversation.close()
  const files = readdirSync(directory).filter((file) => file.endsWith(".db"))
  const bytes = files.reduce((sum, file) => sum + bytesInFile(join(directory, file)), 0)
  return { name: peer.name, bytes: bytes / records }
}
