package tmux

import (
	"fmt"
	"strings"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/tmux/server"
)

// targets resolves the targets of commands, relative to the caller's own pane.
type targets struct {
	state *server.State
	own   server.Target // pane this call was made from; zero outside the server
}

// locateOwn finds the pane this call was made from by the caller's variables.
func (t *targets) locateOwn(lookupEnv func(string) string) {
	pane, terminal := strings.TrimPrefix(lookupEnv("TMUX_PANE"), "%"), lookupEnv(factory.OwnSession)
	path, _, _ := strings.Cut(lookupEnv("TMUX"), ",")
	t.own = t.state.FindPane(func(at server.Target) bool {
		if path == t.state.Path && pane != "" {
			return fmt.Sprint(at.Pane.ID) == pane
		}
		return terminal != "" && at.Pane.Terminal == terminal
	})
}

// find resolves the target given by a flag of cmd, or the default one without it.
func (t *targets) find(cmd *command, flag byte, want server.TargetKind) (server.Target, error) {
	if want == server.TargetNone {
		return server.Target{}, nil
	}
	return server.Finder{State: t.state, Default: t.own}.FindTarget(cmd.value(flag), want)
}

// findDefault returns the pane that commands without a target work on.
func (t *targets) findDefault() (server.Target, error) {
	return server.Finder{State: t.state, Default: t.own}.FindTarget("", server.TargetPane)
}
