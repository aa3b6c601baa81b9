import ControlClient
import LinuxIO

// countdownctl: the client of countdownd, for people and for scripts. Each verb is described where it
// is carried out: what it takes, what its help says, and what it does.

let verbs: [Verb] = [
  .start, .get, .list, .count,  // StartVerb.swift, ReadingVerbs.swift
  .pause, .resume, .extend, .restart, .cancel, .setPayload,  // ChangingVerbs.swift
  .wait, .watch, .subscribe,  // WaitVerb.swift, WatchVerb.swift, SubscribeVerb.swift
  .clocks, .statistics,  // InsightVerbs.swift
  .demo,  // Demo.swift, and its three stories
]

StandardStream.fillGaps()
CurrentProcess.exit(run(CurrentProcess.arguments))
