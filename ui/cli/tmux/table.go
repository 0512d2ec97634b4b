package tmux

import (
	"fmt"
	"slices"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// A handler implements one of tmux's commands.
type handler struct {
	name, alias      string
	flags            string // supported flags as in getopt: a colon follows those with a value
	minArgs, maxArgs int    // number of arguments; maxArgs is -1 for any
	target           server.TargetKind
	run              func(cmd *command, at server.Target) error // at is what -t names; zero for TargetNone
}

// A table holds the handlers of all supported commands, sorted by name.
type table []handler

// newTable returns the handlers that run commands of c.
func newTable(c *call) table {
	buffers, clients, keys, layouts := bufferCommands{c.parts}, clients{c.parts}, keyboard{c.parts}, layoutCommands{c.parts}
	options, panes, printing := optionCommands{c.parts}, paneCommands{c.parts}, printCommands{c.parts}
	scripts, sessions, windows := scriptCommands{c}, sessionCommands{c.parts}, windowCommands{c.parts}
	const (
		nothing, session, window, pane = server.TargetNone, server.TargetSession, server.TargetWindow, server.TargetPane
		index                          = server.TargetIndex
	)
	return table{
		{"attach-session", "attach", "dEt:", 0, 0, nothing, clients.attachSession},
		{"break-pane", "breakp", "dPF:n:s:t:", 0, 0, nothing, windows.breakPane},
		{"capture-pane", "capturep", "eJNpqb:E:S:t:", 0, 0, pane, buffers.capturePane},
		{"delete-buffer", "deleteb", "b:", 0, 0, nothing, buffers.deleteBuffer},
		{"display-message", "display", "pF:t:", 0, 1, nothing, printing.displayMessage},
		{"has-session", "has", "t:", 0, 0, session, doNothing},
		{"if-shell", "if", "Ft:", 2, 3, nothing, scripts.ifShell},
		{"join-pane", "joinp", "bdfhvl:p:s:t:", 0, 0, pane, panes.joinPane},
		{"kill-pane", "killp", "at:", 0, 0, pane, panes.killPane},
		{"kill-server", "", "", 0, 0, nothing, sessions.killServer},
		{"kill-session", "", "at:", 0, 0, session, sessions.killSession},
		{"kill-window", "killw", "at:", 0, 0, window, windows.killWindow},
		{"last-pane", "lastp", "deZt:", 0, 0, pane, panes.selectPane},
		{"last-window", "last", "t:", 0, 0, session, windows.lastWindow},
		{"list-buffers", "lsb", "F:f:", 0, 0, nothing, buffers.listBuffers},
		{"list-commands", "lscm", "", 0, 0, nothing, scripts.listCommands},
		{"list-panes", "lsp", "asF:f:t:", 0, 0, nothing, panes.listPanes},
		{"list-sessions", "ls", "F:f:", 0, 0, nothing, sessions.listSessions},
		{"list-windows", "lsw", "aF:f:t:", 0, 0, nothing, windows.listWindows},
		{"load-buffer", "loadb", "b:", 1, 1, nothing, buffers.setBuffer},
		{"move-window", "movew", "drs:t:", 0, 0, nothing, windows.moveWindow},
		{"new-session", "new", "AdDEPc:e:F:n:s:x:y:", 0, -1, nothing, sessions.newSession},
		{"new-window", "neww", "adkPc:e:F:n:t:", 0, -1, index, windows.newWindow},
		{"next-layout", "nextl", "t:", 0, 0, pane, layouts.selectLayout},
		{"paste-buffer", "pasteb", "dprb:s:t:", 0, 0, pane, buffers.pasteBuffer},
		{"pipe-pane", "pipep", "Oot:", 0, 1, pane, panes.pipePane},
		{"previous-layout", "prevl", "t:", 0, 0, pane, layouts.selectLayout},
		{"rename-session", "rename", "t:", 1, 1, session, sessions.renameSession},
		{"rename-window", "renamew", "t:", 1, 1, window, windows.renameWindow},
		{"resize-pane", "resizep", "DLRUZt:x:y:", 0, 1, pane, panes.resizePane},
		{"resize-window", "resizew", "t:x:y:", 0, 0, window, layouts.resizeWindow},
		{"respawn-pane", "respawnp", "kc:e:t:", 0, -1, pane, panes.respawnPane},
		{"respawn-window", "respawnw", "kc:e:t:", 0, -1, window, panes.respawnWindow},
		{"rotate-window", "rotatew", "DUZt:", 0, 0, window, layouts.rotateWindow},
		{"run-shell", "run", "bCd:t:", 0, 1, nothing, scripts.runShell},
		{"select-layout", "selectl", "Enpt:", 0, 1, pane, layouts.selectLayout},
		{"select-pane", "selectp", "DdeLlRUZP:T:t:", 0, 0, pane, panes.selectPane},
		{"select-window", "selectw", "t:", 0, 0, window, windows.selectWindow},
		{"send-keys", "send", "lt:", 0, -1, pane, keys.sendKeys},
		{"send-prefix", "", "t:", 0, 0, pane, keys.sendPrefix},
		{"set-buffer", "setb", "ab:n:", 0, 1, nothing, buffers.setBuffer},
		{"set-environment", "setenv", "grut:", 1, 2, nothing, options.setEnvironment},
		{"set-option", "set", "agopqsuUwt:", 1, 2, nothing, options.setOption},
		{"set-window-option", "setw", "agoqut:", 1, 2, nothing, options.setOption},
		{"show-buffer", "showb", "b:", 0, 0, nothing, buffers.showBuffer},
		{"show-environment", "showenv", "gt:", 0, 1, nothing, options.showEnvironment},
		{"show-options", "show", "Agpqsvwt:", 0, 1, nothing, options.showOptions},
		{"show-window-options", "showw", "gvt:", 0, 1, nothing, options.showOptions},
		{"split-window", "splitw", "bdfhPvc:e:F:l:p:t:", 0, -1, pane, panes.splitWindow},
		{"start-server", "start", "", 0, 0, nothing, doNothing},
		{"swap-pane", "swapp", "dDUZs:t:", 0, 0, pane, panes.swapPane},
		{"swap-window", "swapw", "ds:t:", 0, 0, window, windows.swapWindow},
		{"switch-client", "switchc", "EZt:", 0, 0, nothing, clients.switchClient},
		{"wait-for", "wait", "LSU", 1, 1, nothing, scripts.waitFor},
	}
}

// unsupported lists tmux's other commands and their aliases.
const unsupported = "bind-key bind choose-buffer choose-client choose-tree clear-history clearhist clear-prompt-history " +
	"clearphist clock-mode command-prompt confirm-before confirm copy-mode customize-mode detach-client detach display-menu " +
	"menu display-popup popup display-panes displayp find-window findw link-window linkw list-clients lsc list-keys lsk " +
	"lock-client lockc lock-server lock lock-session locks move-pane movep next-window next previous-window prev refresh-client " +
	"refresh save-buffer saveb server-access set-hook show-hooks show-messages showmsgs show-prompt-history showphist " +
	"source-file source suspend-client suspendc unbind-key unbind unlink-window unlinkw"

// find finds a handler by the name, alias or a unique prefix of the name of its command.
func (t table) find(name string) (handler, error) {
	var found []string
	var last handler
	for _, h := range t {
		if h.name == name || h.alias == name && name != "" {
			return h, nil
		}
		if strings.HasPrefix(h.name, name) {
			found, last = append(found, h.name), h
		}
	}
	full := ""
	for _, other := range strings.Fields(unsupported) {
		if strings.Contains(other, "-") { // an alias follows the name
			full = other
		}
		if other == name {
			return handler{}, unsupportedError(name, full)
		}
		if other == full && strings.HasPrefix(full, name) {
			found = append(found, full)
		}
	}
	slices.Sort(found)
	switch {
	case len(found) == 0:
		return handler{}, fmt.Errorf("unknown command: %s", name)
	case len(found) > 1:
		return handler{}, fmt.Errorf("ambiguous command: %s, could be: %s", name, strings.Join(found, ", "))
	case last.name == "":
		return handler{}, unsupportedError(found[0], found[0])
	}
	return last, nil
}

// unsupportedError returns the error for an unsupported command or flag. asked is how the user
// wrote it, and full its full name, by which the error may suggest an alternative.
func unsupportedError(asked, full string) error {
	const noFile, typed, byTarget = "; use set-option", "; write out the keys or the text", "; use select-window -t INDEX"
	instead := map[string]string{
		"tmux -f": noFile, "source-file": noFile,
		"next-window": byTarget, "previous-window": byTarget,
		"select-window -n": byTarget, "select-window -p": byTarget, "select-window -l": "; use last-window",
		"send-keys -N": typed, "send-keys -H": typed, "send-keys -F": typed,
		"move-pane":      "; use join-pane",
		"save-buffer":    "; use show-buffer >FILE",
		"list-clients":   "; dashboards are not clients",
		"refresh-client": "; dashboards are not clients",
		"set-hook":       "; use `tandem wait`",
	}
	return fmt.Errorf("%s is not supported by tandem%s", asked, instead[full])
}

// doNothing implements has-session, which fails when its target is resolved, and start-server.
func doNothing(*command, server.Target) error { return nil }
