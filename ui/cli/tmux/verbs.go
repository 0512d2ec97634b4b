package tmux

// A handler carries out a verb.
type handlerFunc func(*call, *command) error

// handler is what carries out a verb; nil for one that is refused.
func handler(name string) handlerFunc {
	for _, group := range []func(string) handlerFunc{sessionVerb, windowVerb, paneVerb, otherVerb} {
		if does := group(name); does != nil {
			return does
		}
	}
	return nil
}

// refused are the flags that would change what is done, and that are not there.
func (v *verb) refused() string {
	switch v.name {
	case "attach-session":
		return "frx"
	case "capture-pane":
		return "P"
	case "display-message":
		return "acIv"
	case "if-shell":
		return "b"
	case "new-session":
		return "fX"
	case "next-window", "previous-window":
		return "a"
	case "pipe-pane", "split-window":
		return "I"
	case "refresh-client":
		return "ABcDflLRSU"
	case "resize-pane":
		return "MT"
	case "select-layout":
		return "o"
	case "select-pane":
		return "mM"
	case "send-keys":
		return "MRX"
	case "set-buffer":
		return "w"
	case "set-environment", "show-environment":
		return "h"
	case "show-options":
		return "H"
	case "source-file":
		return "v"
	case "switch-client":
		return "clnprT"
	}
	return ""
}

func sessionVerb(name string) handlerFunc {
	switch name {
	case "new-session":
		return newSession
	case "has-session":
		return hasSession
	case "kill-session":
		return killSession
	case "kill-server":
		return killServer
	case "rename-session":
		return renameSession
	case "list-sessions":
		return listSessions
	case "list-clients":
		return listClients
	case "attach-session":
		return attachSession
	case "switch-client":
		return switchClient
	case "refresh-client":
		return refreshClient
	case "start-server":
		return func(*call, *command) error { return nil }
	}
	return nil
}

func windowVerb(name string) handlerFunc {
	switch name {
	case "new-window":
		return newWindow
	case "kill-window":
		return killWindow
	case "rename-window":
		return renameWindow
	case "list-windows":
		return listWindows
	case "select-window":
		return selectWindow
	case "next-window", "previous-window", "last-window":
		return stepWindow
	case "move-window":
		return moveWindow
	case "swap-window":
		return swapWindow
	case "respawn-window":
		return respawnWindow
	case "resize-window":
		return resizeWindow
	case "select-layout", "next-layout", "previous-layout":
		return selectLayout
	case "rotate-window":
		return rotateWindow
	}
	return nil
}

func paneVerb(name string) handlerFunc {
	switch name {
	case "split-window":
		return splitWindow
	case "kill-pane":
		return killPane
	case "list-panes":
		return listPanes
	case "select-pane", "last-pane":
		return selectPane
	case "swap-pane":
		return swapPane
	case "join-pane", "move-pane":
		return joinPane
	case "break-pane":
		return breakPane
	case "resize-pane":
		return resizePane
	case "respawn-pane":
		return respawnPane
	case "send-keys":
		return sendKeys
	case "send-prefix":
		return sendPrefix
	case "capture-pane":
		return capturePane
	case "pipe-pane":
		return pipePane
	}
	return nil
}

func otherVerb(name string) handlerFunc {
	switch name {
	case "display-message":
		return displayMessage
	case "set-option", "set-window-option":
		return setOption
	case "show-options", "show-window-options":
		return showOptions
	case "set-environment":
		return setEnvironment
	case "show-environment":
		return showEnvironment
	case "set-buffer", "load-buffer":
		return setBuffer
	case "show-buffer", "save-buffer":
		return showBuffer
	case "list-buffers":
		return listBuffers
	case "delete-buffer":
		return deleteBuffer
	case "paste-buffer":
		return pasteBuffer
	case "run-shell":
		return runShell
	case "if-shell":
		return ifShell
	case "source-file":
		return sourceFile
	case "wait-for":
		return waitFor
	case "list-commands":
		return listCommands
	case "list-keys":
		return listKeys
	}
	return nil
}
