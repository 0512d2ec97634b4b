package tmux

import "tandem/ui/cli/tmux/server"

// A handler implements a verb. Without run, the verb is unsupported.
type handler struct {
	run         func(cmd *command, at server.Target) error
	target      server.TargetKind // kind of -t, resolved before run; with TargetNone, run resolves it
	unsupported string            // flags rejected because they would change the result
}

// commands are the implementations of the verbs, by what they work on.
type commands struct {
	buffers  *bufferCommands
	clients  *clients
	keyboard *keyboard
	layouts  *layoutCommands
	options  *optionCommands
	panes    *paneCommands
	printing *printCommands
	scripts  *scriptCommands
	sessions *sessionCommands
	windows  *windowCommands
}

// isSupported reports whether a verb is implemented.
func isSupported(verb string) bool { return commands{}.handlers()[verb].run != nil }

// handlers returns the handlers of supported verbs, and as "tmux" that of the flags before a command.
// Those of the zero commands serve only to tell what is supported.
func (c commands) handlers() map[string]handler {
	const (
		nothing, session, window, pane = server.TargetNone, server.TargetSession, server.TargetWindow, server.TargetPane
		index                          = server.TargetIndex
	)
	return map[string]handler{
		"tmux":                {nil, nothing, "cD"},
		"attach-session":      {c.clients.attachSession, nothing, "frx"},
		"break-pane":          {c.windows.breakPane, nothing, ""},
		"capture-pane":        {c.buffers.capturePane, pane, "aP"},
		"delete-buffer":       {c.buffers.deleteBuffer, nothing, ""},
		"display-message":     {c.printing.displayMessage, nothing, "acIv"},
		"has-session":         {hasSession, session, ""},
		"if-shell":            {c.scripts.ifShell, nothing, "b"},
		"join-pane":           {c.panes.joinPane, pane, ""},
		"kill-pane":           {c.panes.killPane, pane, ""},
		"kill-server":         {c.sessions.killServer, nothing, ""},
		"kill-session":        {c.sessions.killSession, session, ""},
		"kill-window":         {c.windows.killWindow, window, ""},
		"last-pane":           {c.panes.selectPane, pane, ""},
		"last-window":         {c.windows.stepWindow, session, ""},
		"list-buffers":        {c.buffers.listBuffers, nothing, ""},
		"list-clients":        {c.clients.listClients, nothing, ""},
		"list-commands":       {c.printing.listCommands, nothing, ""},
		"list-panes":          {c.panes.listPanes, nothing, ""},
		"list-sessions":       {c.sessions.listSessions, nothing, ""},
		"list-windows":        {c.windows.listWindows, nothing, ""},
		"load-buffer":         {c.buffers.setBuffer, nothing, ""},
		"move-pane":           {c.panes.joinPane, pane, ""},
		"move-window":         {c.windows.moveWindow, nothing, ""},
		"new-session":         {c.sessions.newSession, nothing, "fX"},
		"new-window":          {c.windows.newWindow, index, ""},
		"next-layout":         {c.layouts.selectLayout, pane, ""},
		"next-window":         {c.windows.stepWindow, session, "a"},
		"paste-buffer":        {c.buffers.pasteBuffer, pane, ""},
		"pipe-pane":           {c.panes.pipePane, pane, "I"},
		"previous-layout":     {c.layouts.selectLayout, pane, ""},
		"previous-window":     {c.windows.stepWindow, session, "a"},
		"refresh-client":      {c.clients.refreshClient, nothing, "ABcDflLRSU"},
		"rename-session":      {c.sessions.renameSession, session, ""},
		"rename-window":       {c.windows.renameWindow, window, ""},
		"resize-pane":         {c.panes.resizePane, pane, "MT"},
		"resize-window":       {c.layouts.resizeWindow, window, ""},
		"respawn-pane":        {c.panes.respawnPane, pane, ""},
		"respawn-window":      {c.panes.respawnWindow, window, ""},
		"rotate-window":       {c.layouts.rotateWindow, window, ""},
		"run-shell":           {c.scripts.runShell, nothing, ""},
		"save-buffer":         {c.buffers.showBuffer, nothing, ""},
		"select-layout":       {c.layouts.selectLayout, pane, "o"},
		"select-pane":         {c.panes.selectPane, pane, "mM"},
		"select-window":       {c.windows.selectWindow, nothing, "T"},
		"send-keys":           {c.keyboard.sendKeys, pane, "MRX"},
		"send-prefix":         {c.keyboard.sendPrefix, pane, ""},
		"set-buffer":          {c.buffers.setBuffer, nothing, "w"},
		"set-environment":     {c.options.setEnvironment, nothing, "Fh"},
		"set-option":          {withQuiet(c.options.setOption), nothing, ""},
		"set-window-option":   {withQuiet(c.options.setOption), nothing, ""},
		"show-buffer":         {c.buffers.showBuffer, nothing, ""},
		"show-environment":    {c.options.showEnvironment, nothing, "h"},
		"show-options":        {withQuiet(c.options.showOptions), nothing, "H"},
		"show-window-options": {withQuiet(c.options.showOptions), nothing, ""},
		"source-file":         {c.scripts.sourceFile, nothing, "Fnv"},
		"split-window":        {c.panes.splitWindow, pane, "I"},
		"start-server":        {func(*command, server.Target) error { return nil }, nothing, ""},
		"swap-pane":           {c.panes.swapPane, pane, ""},
		"swap-window":         {c.windows.swapWindow, window, ""},
		"switch-client":       {c.clients.switchClient, nothing, "clnprT"},
		"wait-for":            {c.scripts.waitFor, nothing, ""},
	}
}
