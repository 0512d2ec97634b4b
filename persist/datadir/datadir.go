// Package datadir names the files and folders that Tandem makes in a data folder. What is
// in them is their packages' business.
package datadir

import "strings"

// Names of what lies in a data folder. Whatever is made there has its name here, or a data
// folder that was opened to others is not recognised as ours any more.
const (
	ActivateLock = "activate.lock"
	AgentSetup   = "agent-setup.json"
	AgentTokens  = "agent-tokens"
	Audit        = "audit.jsonl"
	Bookmarks    = "bookmarks"
	EngineLock   = "engine.lock"
	EngineLog    = "engine.log"
	EngineSocket = "tandem.sock"
	Environment  = "env.json"
	Fleet        = "fleet"
	History      = "history.db"
	Hub          = "hub"
	KeeperLock   = "keeper.lock"
	KeeperSocket = "keeper.sock"
	LastPolicy   = "policy.last"
	Layouts      = "layouts.json"
	Page         = "page"
	Processes    = "processes"
	Recent       = "recent.json"
	Sandboxed    = "sandboxed"
	Shell        = "shell"
	Tips         = "tips.json"
	Tmux         = "tmux"
)

// The names of temporary files of persist/store.
const (
	TempPrefix = ".persist-"
	TempSuffix = ".tmp"
)

// Names returns all names of what lies in a data folder.
func Names() []string {
	return []string{
		ActivateLock, AgentSetup, AgentTokens, Audit, Bookmarks, EngineLock, EngineLog, EngineSocket, Environment, Fleet, History,
		Hub, KeeperLock, KeeperSocket, LastPolicy, Layouts, Page, Processes, Recent, Sandboxed, Shell, Tips, Tmux,
	}
}

// Ours reports whether Tandem makes files of this name in a data folder: one of Names,
// what is kept beside it (a journal, the log before, a damaged file that was set aside) or
// a temporary file that a crash has left.
func Ours(name string) bool {
	if strings.HasPrefix(name, TempPrefix) && strings.HasSuffix(name, TempSuffix) {
		return true
	}
	temp, hidden := strings.CutPrefix(name, ".") // as github.com/google/renameio names them
	for _, own := range Names() {
		rest, ok := strings.CutPrefix(temp, own)
		if ok && (rest == "" && !hidden || hidden && digits(rest) || !hidden && beside(rest)) {
			return true
		}
	}
	return false
}

// beside reports whether a file whose name ends so is kept beside the one without.
func beside(ending string) bool {
	for _, known := range []string{".bad", ".old", ".1", "-wal", "-shm", "-journal"} {
		if rest, ok := strings.CutPrefix(ending, known); ok && (rest == "" || known == ".bad") {
			return true
		}
	}
	return false
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
