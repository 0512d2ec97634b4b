package tmux

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// implemented lists the accepted flags of each supported verb. Some need no code: there are no clients
// for -d and -x to detach, -E asks for the default behaviour, and unprinted messages have no status
// line.
var implemented = map[string]string{
	"new-session": "AdDEPceFnstxy", "has-session": "t", "kill-session": "aCt", "kill-server": "", "rename-session": "t",
	"list-sessions": "Ff", "list-clients": "Ft", "attach-session": "dEct", "switch-client": "EZt", "refresh-client": "Ct",
	"start-server": "", "new-window": "abdkPSceFnt", "kill-window": "at", "rename-window": "t", "list-windows": "aFft",
	"select-window": "lnpt", "next-window": "t", "previous-window": "t", "last-window": "t", "move-window": "abdkrst",
	"swap-window": "dst", "respawn-window": "kcet", "resize-window": "aADLRUxyt", "select-layout": "Enpt", "next-layout": "t",
	"previous-layout": "t", "rotate-window": "DUZt", "split-window": "bdfhPvZceFltp", "kill-pane": "at", "list-panes": "asFft",
	"select-pane": "DdeLlRUZTtgP", "last-pane": "deZt", "swap-pane": "dDUZst", "join-pane": "bdfhvlstp", "move-pane": "bdfhvlstp",
	"break-pane": "abdPFnst", "resize-pane": "DLRUZxyt", "respawn-pane": "kcet", "send-keys": "FHlNt", "send-prefix": "2t",
	"capture-pane": "CeJNpqbESt", "pipe-pane": "Oot", "display-message": "NpdFt", "set-option": "aFgopqsuUwt",
	"set-window-option": "aFgoqut", "show-options": "Agpqsvwt", "show-window-options": "gvt", "set-environment": "grut",
	"show-environment": "gst", "set-buffer": "abnt", "load-buffer": "bt", "show-buffer": "b", "save-buffer": "ab",
	"list-buffers": "Ff", "delete-buffer": "b", "paste-buffer": "dprsbt", "run-shell": "bCdt", "if-shell": "Ft",
	"source-file": "q", "wait-for": "LSU", "list-commands": "F",
}

func TestEveryFlagIsImplementedOrRejected(t *testing.T) {
	supported := map[string]bool{}
	for _, v := range verbs() {
		if !isSupported(v.name) {
			continue
		}
		supported[v.name] = true
		for _, flag := range []byte(v.switches + v.options) {
			words := []string{v.name, fmt.Sprintf("-%c", flag)}
			if strings.IndexByte(v.options, flag) >= 0 {
				words = append(words, "1")
			}
			for range v.minArgs {
				words = append(words, "x")
			}
			_, err := parseCommand(words)
			rejected := err != nil && err.Error() == fmt.Sprintf("%s -%c is not supported by tandem", v.name, flag)
			switch accepted := strings.IndexByte(implemented[v.name], flag) >= 0; {
			case accepted && err != nil:
				t.Errorf("%s -%c: %v", v.name, flag, err)
			case !accepted && !rejected:
				t.Errorf("%s -%c is accepted without an implementation: %v", v.name, flag, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(implemented)) {
		if !supported[name] {
			t.Errorf("%s has no handler", name)
		}
	}
}

func TestFlagRepeatedInTheUsageTakesItsValue(t *testing.T) {
	c, err := parseCommand([]string{"split-window", "-h", "-eNAME=value", "cat"})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.value('e'); got != "NAME=value" || len(c.args) != 1 {
		t.Errorf("-e is %q and the arguments are %q", got, c.args)
	}
}
