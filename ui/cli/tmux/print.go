package tmux

import (
	"cmp"
	"fmt"
	"regexp"
	"sync"

	"tandem/ui/cli/tmux/server"
)

// printCommands implements the commands that print formats.
type printCommands struct{ *parts }

func (c printCommands) displayMessage(cmd *command, _ server.Target) error {
	at, err := c.targets.find(cmd, 't', server.TargetPane)
	if err != nil && !cmd.has('t') { // with a wrong -t, tmux prints without a pane
		return err
	}
	text := cmp.Or(cmd.arg(0), cmd.value('F'), "[#{session_name}] #{window_index}:#{window_name}, current pane #{pane_index}")
	if err := checkTimes(text); err != nil {
		return err
	}
	scope := c.formats.scope(at)
	if err != nil {
		scope = c.formats.exactScope(server.Target{})
	}
	if cmd.has('p') {
		c.print.lines(scope.Expand(text))
	}
	return nil
}

var timePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[aAbBcdDeFhHIjmMpRSTxXyYzZ]`) })

// checkTimes returns an error if text has a time or date as in strftime(3), which tmux expands.
func checkTimes(text string) error {
	if found := timePattern().FindString(text); found != "" {
		return fmt.Errorf("format %s is not supported by tandem; use date(1)", found)
	}
	return nil
}
