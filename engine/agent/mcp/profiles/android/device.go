package android

import (
	"context"
	"errors"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/sleep"
)

// restartTimeout limits the wait for a restarted engine.
const restartTimeout = 10 * time.Second

type deviceInput struct {
	Action string `json:"action" enum:"termux.status,termux.restart,termux.show_setup"`
}

// deviceState describes the backend of the termux tools.
type deviceState struct {
	Status    string `json:"status"`
	Installed bool   `json:"installed"`
	Running   bool   `json:"running"`
	Shell     string `json:"shell,omitempty"`
	Home      string `json:"home"`
	Sessions  int    `json:"sessions"`
	Version   string `json:"version"`
	Detail    string `json:"detail,omitempty"`
}

// controlDevice reports on or restarts the backend of the termux tools: the engine, with its
// terminals, and bash.
func (a *android) controlDevice(ctx context.Context, f *toolkit.Agent, in deviceInput) (toolkit.Result, error) {
	switch in.Action {
	case "termux.status", "termux.show_setup":
	case "termux.restart":
		if _, err := a.findBash(); err != nil {
			return toolkit.Result{}, err
		}
		if err := restartEngine(ctx, f); err != nil {
			return toolkit.Result{}, err
		}
	default:
		return toolkit.Result{}, androidErrorf("unknown_action", "unknown action %q; must be termux.status, termux.restart or termux.show_setup", in.Action)
	}
	state, err := a.backendState(ctx, f)
	if in.Action == "termux.show_setup" {
		state.Detail = setupText(state)
	}
	return toolkit.AnswerJSON(state), err
}

func (a *android) backendState(ctx context.Context, f *toolkit.Agent) (deviceState, error) {
	info, err := api.EngineInfo.Call(ctx, f.Engine, api.Empty{})
	if err != nil {
		return deviceState{}, err
	}
	sessions, err := api.SessionList.Call(ctx, f.Engine, api.Empty{})
	if err != nil {
		return deviceState{}, err
	}
	state := deviceState{Status: "ok", Home: f.Options.Home, Version: info.Version}
	if shell, err := a.findBash(); err == nil {
		state.Installed, state.Running, state.Shell = true, true, shell
	}
	for _, p := range sessions.Sessions {
		if !p.State.Ended() {
			state.Sessions++
		}
	}
	return state, nil
}

// setupText explains how to set up the backend.
func setupText(state deviceState) string {
	if state.Installed {
		return "Nothing to set up: the termux tools run " + state.Shell + " in terminals of this machine."
	}
	return "The termux tools need bash. Install it with the system's package manager (apt install bash, apk add bash, " +
		"pkg install bash), make sure it is in PATH, and call termux.status. Until then use the local tools."
}

// restartEngine restarts the engine. Sessions and processes keep running.
func restartEngine(ctx context.Context, f *toolkit.Agent) error {
	before, err := api.EngineInfo.Call(ctx, f.Engine, api.Empty{})
	if err != nil {
		return err
	}
	// The engine may exit before it replies.
	_, err = api.EngineStop.Call(ctx, f.Engine.Once(), api.EngineStopInput{Restart: true})
	if err != nil && !errors.Is(err, api.CodeUnavailable) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	// The old engine may answer for a moment.
	for {
		now, err := api.EngineInfo.Call(ctx, f.Engine, api.Empty{})
		if err == nil && (now.EnginePID != before.EnginePID || !now.StartedAt.Equal(before.StartedAt)) {
			return nil
		}
		if sleep.For(ctx, 20*time.Millisecond) != nil {
			return androidErrorf("restart_failed", "the new engine did not start within %v", restartTimeout)
		}
	}
}
