/**
 * Turns a transcript into the records of a log: one run for each input, repaired where it does not fit.
 *
 * Records come in groups, which become batches: one for each run, and one for each note between runs. A file that grows by
 * whole runs, or by settings between them, therefore repeats its earlier batches exactly, and an import recognises them.
 * All ids are derived from what a record is and where it stands, never drawn.
 */
import { derive } from "@colloquy/session/DerivedId"
import { AgentName, RecordId, RunId, ToolCallId } from "@colloquy/session/Ids"
import type * as Payload from "@colloquy/session/Payload"
import * as Usage from "@colloquy/session/Usage"
import { present } from "./Fields.ts"
import { OpenCalls } from "./OpenCalls.ts"
import { RepairCounts, type RepairKind } from "./Repair.ts"
import type { Input, Item, Note, Place, Response, Result, Transcript } from "./Transcript.ts"
import { repairNote } from "./Transcript.ts"

/** A record, and where in the file it comes from. */
interface Draft {
  readonly recordId: RecordId
  readonly at: number
  readonly payload: Payload.Written
  readonly place: Place
}

/** Records that belong into one batch, if the limits allow it; `parts` are those of the batch's id. */
export interface Group {
  readonly parts: ReadonlyArray<string>
  readonly drafts: Array<Draft>
}

/** The agent and the mode of imported runs. */
const agent = AgentName.make("assistant")
const mode = "execute"

export class LogBuilder {
  readonly groups: Array<Group> = []
  readonly repairs = new RepairCounts()
  readonly calls = new OpenCalls()
  private run: Run | undefined
  private runs = 0
  private notesAfterRun = 0
  /** Notes that nothing has followed: they belong to the run only when it goes on behind them. */
  private pending: Array<Note> = []
  /** What the last item's time was; it stands for items without one. */
  private at: number

  constructor(transcript: Transcript, now: number) {
    this.at = transcript.at ?? transcript.items.find(({ at }) => at !== undefined)?.at ?? now
    const beginning = transcript.items.findIndex(({ _tag }) => _tag !== "System" && _tag !== "Note")
    const leading = beginning === -1 ? transcript.items : transcript.items.slice(0, beginning)
    this.create(transcript, leading)
    for (const item of transcript.items) {
      for (const kind of item.repairs ?? []) this.repairs.add(kind)
      this.at = item.at ?? this.at
      if (item._tag !== "System" || !leading.includes(item)) this.read(item)
    }
    this.endRun()
    this.flushNotes()
  }

  private create({ metadata, place, title }: Transcript, leading: ReadonlyArray<Item>): void {
    const texts = leading.flatMap((item) => (item._tag === "System" && item.text.trim() !== "" ? [item.text] : []))
    const instructions = texts.length === 0 ? undefined : texts.join("\n\n")
    const payload = present({ _tag: "ConversationCreated" as const, title, instructions, metadata })
    const recordId = RecordId.make("created")
    this.groups.push({ parts: ["created"], drafts: [{ recordId, at: this.at, payload, place }] })
  }

  private read(item: Item): void {
    switch (item._tag) {
      case "System":
        return this.readNote(this.repair("late-system-message", { text: item.text }, item))
      case "Note":
        return this.readNote(item)
      case "Input":
        return this.readInput(item)
      case "Response":
        return this.readResponse(item)
      case "Result":
        return this.readResult(item)
    }
  }

  private readNote(note: Note): void {
    this.pending.push(note)
  }

  private readInput({ author, content, inputId, place }: Input): void {
    this.endRun()
    this.flushNotes()
    const run = this.startRun(place)
    if (content.every((part) => part.type === "text" && part.text.trim() === "")) this.repairs.add("empty-input")
    this.write(run, place, ["input"], {
      _tag: "InputRecorded",
      runId: run.runId,
      kind: "user",
      message: { role: "user", content },
      ...present({ author, inputId })
    })
  }

  private readResponse(item: Response): void {
    const { content, end, finishReason, model, place, provider, responseId, usage } = item
    const run = this.run ?? this.startRunWithoutInput(place)
    // The run went on behind a response that was cut off: its end will not say why.
    if (run.cut?.failure !== undefined) this.pending.unshift(failureNote(run.cut))
    this.flushNotes(run)
    const step = run.step + 1
    this.countResponse(item)
    this.write(run, place, ["step", String(step), "response"], {
      _tag: "ModelResponded",
      runId: run.runId,
      step,
      agent,
      content: this.calls.declare(content, step),
      finishReason,
      ...present({ provider, model, responseId, usage, partial: end === "complete" ? undefined : (true as const) })
    })
    run.step = step
    run.usage = usage === undefined ? run.usage : Usage.add(run.usage, usage)
    run.cut = end === "complete" ? undefined : item
  }

  private countResponse({ content, end }: Response): void {
    if (content.every((part) => part.type === "text" && part.text.trim() === "")) this.repairs.add("empty-response")
    if (end !== "complete") this.repairs.add(end === "aborted" ? "aborted-response" : "failed-response")
  }

  private readResult(item: Result): void {
    const { callId: original, isFailure, modelOutput, name, place, result } = item
    const { run } = this
    const call = this.calls.settle(original, name)
    if (run === undefined || call === undefined) {
      const kind = this.calls.isAnswered(original) ? "repeated-result" : "result-without-call"
      return this.readNote(this.repair(kind, present({ callId: original, name, isFailure, result }), item))
    }
    this.flushNotes(run)
    this.write(run, place, ["step", String(call.step), "call", call.callId, "settled"], {
      _tag: "ToolCallSettled",
      runId: run.runId,
      step: call.step,
      callId: ToolCallId.make(call.callId),
      name: call.name,
      outcome: isFailure ? "failure" : "success",
      isFailure,
      result,
      ...present({ modelOutput })
    })
  }

  private repair(kind: RepairKind, data: unknown, { at, place }: Item): Note {
    this.repairs.add(kind)
    return repairNote(kind, data, place, at)
  }

  private startRun(place: Place): Run {
    this.runs++
    this.notesAfterRun = 0
    const number = String(this.runs)
    const parts = ["import", "run", number] as const
    const group: Group = { parts, drafts: [] }
    const runId = RunId.make(derive(...parts))
    const run: Run = { runId, parts, group, step: 0, notes: 0, usage: Usage.empty, cut: undefined, place }
    this.groups.push(group)
    this.run = run
    this.write(run, place, ["started"], { _tag: "RunStarted", runId, agent, mode })
    return run
  }

  private startRunWithoutInput(place: Place): Run {
    this.flushNotes()
    this.repairs.add("response-without-input")
    return this.startRun(place)
  }

  private endRun(): void {
    const { run } = this
    if (run === undefined) return
    this.run = undefined
    this.repairs.add("call-without-result", this.calls.close())
    if (run.step === 0) this.repairs.add("run-without-response")
    const outcome = run.step === 0 || run.cut?.end === "aborted" ? "cancelled" : run.cut ? "failed" : "completed"
    const last = run.group.drafts.at(-1)
    const payload = { _tag: "RunEnded" as const, runId: run.runId, outcome, mode, usage: run.usage } as const
    this.write(
      run,
      last?.place ?? run.place,
      ["ended"],
      { ...payload, ...present({ error: run.cut?.failure }) },
      last?.at
    )
  }

  /** Writes the notes that wait: into the run, or each into a group of its own. */
  private flushNotes(run?: Run): void {
    for (const { at = this.at, data, name, place } of this.pending) {
      const payload = { _tag: "Custom" as const, name, data: data ?? null }
      if (run !== undefined) {
        run.notes++
        this.write(run, place, ["note", String(run.notes)], payload, at)
      } else {
        this.notesAfterRun++
        const parts = ["import", "after", String(this.runs), String(this.notesAfterRun)] as const
        const recordId = RecordId.make(derive(...parts))
        this.groups.push({ parts, drafts: [{ recordId, at, payload, place }] })
      }
    }
    this.pending = []
  }

  private write(run: Run, place: Place, parts: ReadonlyArray<string>, payload: Payload.Written, at = this.at): void {
    run.group.drafts.push({ recordId: RecordId.make(derive(...run.parts, ...parts)), at, payload, place })
  }
}

// --- internal ---

interface Run {
  readonly runId: RunId
  readonly parts: readonly [string, ...Array<string>]
  readonly group: Group
  readonly place: Place
  step: number
  notes: number
  usage: Usage.Usage
  /** The last response, when it was cut off. */
  cut: Response | undefined
}

const failureNote = ({ at, failure, place }: Response): Note => ({
  _tag: "Note",
  name: "import.failure",
  data: failure,
  place,
  at
})
