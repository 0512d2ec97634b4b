package supervise

import (
	"tandem/engine/api"
	"tandem/persist/store"
)

// The consequence of an event depends on the state of the process, and nearly every combination
// occurs: an exit before its start is confirmed, a stop during a restart, a removal during a stop.
// If each request had a handler full of conditions, nobody would see which combinations are
// missing. Here each cell of state × event names one small function. A missing cell is a decision
// too: the event cannot happen in that state, and the loop logs an error if it does. Requests,
// timers, reports of the keeper and the findings of a new engine all arrive as events, so the same
// rules apply to them.

// An eventKind names something that happens to a process. The comments list the fields of event
// that are set for it.
type eventKind string

const (
	evSpawned     eventKind = "spawned"        // the keeper started its child: child, live
	evSpawnFailed eventKind = "spawn failed"   // the start failed, or its result is unknown: err
	evUnsure      eventKind = "unsure"         // the keeper has not answered in time: err
	evFound       eventKind = "found"          // a new engine found its child in the keeper: child, live
	evLost        eventKind = "lost"           // a new engine found its child running, but not its terminal
	evMissing     eventKind = "missing"        // a new engine found no child: ending, rebooted, unsure
	evBooted      eventKind = "booted"         // a new engine found it ended in an earlier boot
	evExited      eventKind = "exited"         // its child has exited: child, ending
	evDrained     eventKind = "drained"        // all its output has been read
	evReady       eventKind = "ready"          // it is ready: child
	evUnready     eventKind = "not ready"      // it was not ready in time: child, err
	evDue         eventKind = "due"            // its delay is over, a dependency may be met, or a stop is to be retried
	evGone        eventKind = "gone"           // nothing is left of its tree
	evStuck       eventKind = "stuck"          // its tree could not be stopped: err
	evStop        eventKind = "stop asked for" // reply, signal
	evRestart     eventKind = "restart asked for"
	evRemove      eventKind = "removal asked for"
)

// An event is something that happens to a process. Which other fields are set depends on kind.
type event struct {
	kind eventKind
	Launch
	ending    Ending
	rebooted  bool
	unsure    bool // the missing child may have existed
	err       error
	signal    string             // replaces the process's stop signal
	by        string             // who asks: person, or agent:NAME/VERSION; "" for the engine itself
	timeoutMS int                // from the signal to SIGKILL; 0: the process's own
	after     []store.Dependency // dependencies of a restart
	restartID string             // of a restart, chosen by the caller
	restores  bool               // the restart restores an interrupted session
	reply     chan<- outcome
}

type action func(p *proc, e event)

// A table maps a state and an event to an action. If there is none, the event cannot happen in that
// state. An event without effect maps to ignore.
type table map[api.State]map[eventKind]action

func newTable(start *starting, stop *stopping, wait *waiting) table {
	ended := map[eventKind]action{
		evBooted:  start.startNextRun,
		evExited:  stop.forgetLate,
		evDrained: ignore,
		evReady:   ignore,
		evUnready: ignore,
		evDue:     ignore,
		evGone:    ignore,
		evStuck:   ignore,
		evStop:    stop.stopEnded,
		evRestart: start.restartEnded,
		evRemove:  stop.removeEnded,
	}
	return table{
		api.StateWaiting: {
			evMissing: wait.resumeWaiting,
			evExited:  ignore,
			evDrained: ignore,
			evReady:   ignore,
			evUnready: ignore,
			evDue:     wait.checkDependencies,
			evGone:    ignore,
			evStuck:   ignore,
			evStop:    wait.stopWaiting,
			evRestart: wait.restartWaiting,
			evRemove:  refuseRunning,
		},
		api.StateStarting: {
			evSpawned:     start.adoptChild,
			evSpawnFailed: start.handleStartFailure,
			evUnsure:      start.answerUnsure,
			evFound:       start.adoptChild,
			evLost:        start.stopLost,
			evMissing:     start.concludeMissing,
			evExited:      stop.noteExit,
			evDrained:     stop.noteDrained,
			evReady:       ignore,
			evUnready:     ignore,
			evDue:         ignore,
			evStop:        stop.stopOnceStarted,
			evRestart:     start.awaitStart,
			evRemove:      removeOnceStopped,
		},
		api.StateRunning: {
			evFound:   start.adoptChild,
			evLost:    start.stopLost,
			evMissing: start.concludeMissing,
			evExited:  stop.noteExit,
			evDrained: stop.noteDrained,
			evReady:   start.noteReady,
			evUnready: start.stopUnready,
			evDue:     ignore,
			evStop:    stop.stopRunning,
			evRestart: start.restartRunning,
			evRemove:  refuseRunning,
		},
		api.StateStopping: {
			evFound:   start.adoptChild,
			evLost:    start.stopLost,
			evMissing: start.concludeMissing,
			evExited:  stop.noteExit,
			evDrained: stop.noteDrained,
			evReady:   ignore,
			evUnready: ignore,
			evDue:     stop.retryStop,
			evGone:    stop.noteTreeGone,
			evStuck:   stop.retryFailedStop,
			evStop:    stop.stopRunning,
			evRestart: start.restartStopping,
			evRemove:  removeOnceStopped,
		},
		api.StateBackoff: {
			evFound:   start.adoptChild,
			evLost:    start.stopLost,
			evMissing: start.concludeMissing,
			evExited:  ignore,
			evDrained: ignore,
			evReady:   ignore,
			evUnready: ignore,
			evDue:     start.startDue,
			evGone:    ignore,
			evStuck:   ignore,
			evStop:    stop.stopBackoff,
			evRestart: start.restartEnded,
			evRemove:  refuseRunning,
		},
		api.StateStopped: ended,
		api.StateExited:  ended,
		api.StateFailed:  ended,
	}
}

func ignore(*proc, event) {}
