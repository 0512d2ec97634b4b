package engine

import (
	"os"
	"slices"
	"strings"

	"tandem/persist"
)

// outer are variables that speak of the terminal or the role that the engine
// was started in, and would mislead what runs in another one.
var outer = []string{
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "COLUMNS", "LINES", "TERMCAP",
	"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "PWD", "OLDPWD", "SHLVL",
	"VTE_VERSION", "WINDOWID", "KITTY_WINDOW_ID", "KITTY_PID", "WEZTERM_PANE", "ALACRITTY_WINDOW_ID",
	"ITERM_SESSION_ID", "TERM_SESSION_ID", "WT_SESSION", "KONSOLE_VERSION", "ZELLIJ", "ZELLIJ_SESSION_NAME",
}

// childEnv is the complete environment of a record's child.
func (h *host) childEnv(r persist.Record) []string {
	env := make(map[string]string)
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if name != "" && !slices.Contains(outer, name) && !strings.HasPrefix(name, "TANDEM_") {
			env[name] = value
		}
	}
	if r.TTY {
		env["TERM"] = "xterm-256color"
		env["COLORTERM"] = "truecolor"
		env["TERM_PROGRAM"] = "tandem"
		env["TERM_PROGRAM_VERSION"] = h.o.Version
	}
	env["PWD"] = r.CWD
	for name, value := range h.env.all() {
		env[name] = value
	}
	for name, value := range r.Env {
		env[name] = value
	}
	env[idVariable] = r.ID
	env[dirVariable] = h.o.DataDir
	pairs := make([]string, 0, len(env))
	for name, value := range env {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return pairs
}

// shell is what an empty command starts.
func (h *host) shell() []string {
	if len(h.o.Shell) > 0 {
		return h.o.Shell
	}
	if shell := os.Getenv("SHELL"); shell != "" {
		return []string{shell}
	}
	return []string{"/bin/sh"}
}
