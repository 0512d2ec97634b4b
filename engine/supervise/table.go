package supervise

import (
	"tandem/engine/api"
	"tandem/persist/store"
)

// An eventKind is something that happens to a process.
type eventKind string

const (
	evSpawned     eventKind = "spawned"        // the keeper has started it: child, live
	evSpawnFailed eventKind = "spawn failed"   // it could not, or nobody knows: err
	evUnsure      eventKind = "unsure"         // nobody knows yet whether it has: err
	evFound       eventKind = "found"          // a new engine found its child in the keeper: child, live
	evLost        eventKind = "lost"           // a new engine found its child alive, but not its terminal
	evMissing     eventKind = "missing"        // a new engine found no child: ending, rebooted, unsure
	evBooted      eventKind = "booted"         // a new engine found it ended in an earlier boot
	evExited      eventKind = "exited"         // its child has ended: child, ending
	evDrained     eventKind = "drained"        // all its output has been read
	evReady       eventKind = "ready"          // it is ready: child
	evUnready     eventKind = "not ready"      // it was not in time: child, err
	evDue         eventKind = "due"            // its delay is over, a dependency may be met, or a stop is due for a retry
	evGone        eventKind = "gone"           // nothing is left of its tree
	evStuck       eventKind = "stuck"          // its tree could not be ended: err
	evStop        eventKind = "stop asked for" // reply, signal
	evRestart     eventKind = "restart asked for"
	evRemove      eventKind = "removal asked for"
)

// An event carries what its kind says.
type event struct {
	kind eventKind
	Started
	ending    Ending
	rebooted  bool
	unsure    bool // a missing child that may have existed
	err       error
	signal    string             // instead of the process's stop signal
	by        string             // who asks: person, or agent:NAME/VERSION; "" for the engine itself
	timeoutMS int                // milliseconds from there to SIGKILL; 0: the process's own
	after     []store.Dependency // of a restart: what it waits for
	restartID string             // of a restart, made by the caller
	reply     chan<- outcome
}

type action func(c *Control, p *proc, e event)

// A table says what an event does to a process in a state. A missing cell cannot
// happen; one that is to have no effect says ignore.
type table map[api.State]map[eventKind]action

func newTable() table {
	ended := map[eventKind]action{
		evBooted:  startAgain,
		evExited:  forgetLate,
		evDrained: ignore,
		evReady:   ignore,
		evUnready: ignore,
		evDue:     ignore,
		evGone:    ignore,
		evStuck:   ignore,
		evStop:    stopEnded,
		evRestart: restartEnded,
		evRemove:  remove,
	}
	return table{
		api.StateWaiting: {
			evMissing: goOnWaiting,
			evExited:  ignore,
			evDrained: ignore,
			evReady:   ignore,
			evUnready: ignore,
			evDue:     lookAgain,
			evGone:    ignore,
			evStuck:   ignore,
			evStop:    stopUnstarted,
			evRestart: startAnyway,
			evRemove:  refuseRunning,
		},
		api.StateStarting: {
			evSpawned:     begin,
			evSpawnFailed: startFailed,
			evUnsure:      tellUnsure,
			evFound:       begin,
			evLost:        endLost,
			evMissing:     conclude,
			evExited:      noteExit,
			evDrained:     noteDrained,
			evReady:       ignore,
			evUnready:     ignore,
			evDue:         ignore,
			evStop:        stopOnceStarted,
			evRestart:     awaitStart,
			evRemove:      removeOnceStopped,
		},
		api.StateRunning: {
			evFound:   begin,
			evLost:    endLost,
			evMissing: conclude,
			evExited:  noteExit,
			evDrained: noteDrained,
			evReady:   noteReady,
			evUnready: endUnready,
			evDue:     ignore,
			evStop:    stop,
			evRestart: restartRunning,
			evRemove:  refuseRunning,
		},
		api.StateStopping: {
			evFound:   begin,
			evLost:    endLost,
			evMissing: conclude,
			evExited:  noteExit,
			evDrained: noteDrained,
			evReady:   ignore,
			evUnready: ignore,
			evDue:     retryStop,
			evGone:    noteGone,
			evStuck:   retryFailedStop,
			evStop:    stop,
			evRestart: restartStopping,
			evRemove:  removeOnceStopped,
		},
		api.StateBackoff: {
			evFound:   begin,
			evLost:    endLost,
			evMissing: conclude,
			evExited:  ignore,
			evDrained: ignore,
			evReady:   ignore,
			evUnready: ignore,
			evDue:     startDue,
			evGone:    ignore,
			evStuck:   ignore,
			evStop:    stopWaiting,
			evRestart: restartEnded,
			evRemove:  refuseRunning,
		},
		api.StateStopped: ended,
		api.StateExited:  ended,
		api.StateFailed:  ended,
	}
}

func ignore(*Control, *proc, event) {}
