package engine

import (
	"context"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"tandem/engine/fleet"
	"tandem/engine/hosts/transport"
)

// ownName is who this engine is for other machines.
func ownName() string {
	name, host := "?", "?"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

// ownEnviron is the environment of the commands that reach other machines: they
// run in no session.
func ownEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "TANDEM_SESSION_ID=") })
}

// Settings are what the person may change while the engine runs. They count for
// what is started from then on.
type Settings struct {
	Shell      []string // what an empty command starts; default $SHELL or /bin/sh
	Emulator   string   // grid of the terminals: "" or "native", or "vt10x"
	Scrollback int      // lines kept of each session's screen; default 10,000
	LogLimit   int64    // bytes kept of each session's output; default 1 GiB

	ProcessLogLimit  int64 // bytes kept of the log of each process without a terminal; default 64 MiB
	ShellIntegration *bool // interactive shells are made to mark their prompts; nil: they are

	Machines []transport.Machine // others that this engine keeps links to
	Fleet    fleet.Config        // the fleet that this engine belongs to, if any

	Resume string // what becomes of agents' conversations after a reboot: see the Resume… constants; "" is ResumeOffer

	HistoryIgnore []string      // regular expressions: commands that match one stay out of the history
	ReapAfter     time.Duration // what an agent left behind is ended after this; 0: never
}

// What becomes of a coding agent's conversation when its session is started again after a
// reboot.
const (
	ResumeOffer = "offer" // the command that goes on with it is typed at the prompt, without enter
	ResumeRun   = "run"
	ResumeOff   = "off"
)

func (s Settings) withDefaults() Settings {
	if s.LogLimit == 0 {
		s.LogLimit = 1 << 30
	}
	if s.ProcessLogLimit == 0 {
		s.ProcessLogLimit = 64 << 20
	}
	return s
}

func (s Settings) marksShells() bool { return s.ShellIntegration == nil || *s.ShellIntegration }

// current are the settings that hold now, and what was made of them. A value is
// never changed.
type current struct {
	Settings
	shells shellKeys // those of no shell when they are started as they are
}

// settings are what holds for what is started now.
func (h *host) settings() current {
	if c := h.now.Load(); c != nil {
		return *c
	}
	return current{Settings: h.o.Settings}
}

// set makes settings hold, and tells what of them cannot be had.
func (h *host) set(s Settings) error {
	next := current{Settings: s.withDefaults()}
	var err error
	if next.shells = closedShells(h.o.DataDir); s.marksShells() {
		next.shells, err = openShells(h.o.DataDir)
	}
	h.now.Store(&next)
	return err
}

// setMachines makes links to the machines of settings, or of what is newer.
func (e *engine) setMachines(s Settings) {
	if e.hosts.Read == nil {
		e.hosts.Set(s.Machines)
		return
	}
	if err := e.hosts.Refresh(); err != nil {
		e.log.Warn("read machines", "error", err) // Follow reports it too
	}
}

// followSettings takes in changes until ctx ends. Ones that cannot be read
// change nothing.
func (e *engine) followSettings(ctx context.Context) {
	if e.o.Follow == nil {
		return
	}
	e.o.Follow(ctx, func(s Settings, err error) {
		if err == nil {
			err = e.host.set(s)
			e.host.history.Ignore(s.HistoryIgnore)
			e.host.control.ReapAfter(s.ReapAfter)
			e.setMachines(s)
			e.fleet.Set(s.Fleet)
			e.log.Info("new settings")
		}
		if err != nil {
			e.host.control.PublishNotice(err.Error())
		}
	})
}
