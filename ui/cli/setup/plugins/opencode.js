// Written by `tandem agent hooks install opencode`: tells Tandem what opencode is doing
// in one of its sessions, and does nothing elsewhere.
import { execFile } from "node:child_process"

export const Tandem = async () => {
  if (!process.env.TANDEM_SESSION_ID) return {}
  const children = new Set() // sessions of subagents
  let told = ""
  let last = Promise.resolve()
  const tell = (state, conversation, text = "") => {
    const now = [state, conversation, text].join("\n")
    if (now === told) return
    told = now
    const args = ["agent", "report", "--hook", "--state", state, "--conversation", conversation, "--text", text]
    last = last.then(() => new Promise((done) => execFile(PROGRAM, args, { timeout: 5000 }, () => done()).stdin?.end()))
  }
  return {
    event: async ({ event }) => {
      const of = event.properties ?? {}
      const id = of.sessionID ?? of.info?.id
      if (!id) return
      if (of.info?.parentID) children.add(id)
      const child = children.has(id)
      switch (event.type) {
        case "session.created":
          if (!child) tell("idle", id)
          break
        case "session.status":
          if (!child && of.status?.type !== "idle") tell("working", id)
          break
        case "session.idle":
          if (!child) tell("done", id)
          break
        case "permission.asked":
        case "permission.updated":
          tell("blocked", child ? "" : id, [of.permission ?? of.type ?? of.title, ...[of.patterns ?? of.pattern ?? []].flat()].filter(Boolean).join(" "))
          break
        case "question.asked":
          tell("blocked", child ? "" : id, of.questions?.[0]?.question ?? "")
          break
        case "permission.replied":
        case "question.replied":
        case "question.rejected":
          tell("working", child ? "" : id)
          break
      }
    },
  }
}
