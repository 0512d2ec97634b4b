package tmux

import (
	"cmp"

	"tandem/ui/cli/tmux/server"
)

func displayMessage(c *call, cmd *command, _ server.Target) error {
	at, err := c.findTarget(cmd, 't', server.TargetPane)
	if err != nil && !cmd.has('t') { // with a wrong -t, tmux prints without a pane
		return err
	}
	text := cmp.Or(cmd.arg(0), cmd.value('F'), `[#{session_name}] #{window_index}:#{window_name}, current pane #{pane_index} - (%H:%M %d-%b-%y)`)
	scope := c.scope(at)
	if err != nil {
		scope.Lookup = (&variables{call: c}).lookupVariable
	}
	if cmd.has('p') || c.control != nil {
		c.printLines(scope.Expand(scope.ExpandTime(text)))
	}
	return nil
}
