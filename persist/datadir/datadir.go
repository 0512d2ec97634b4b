// Package datadir names the files and directories in a data directory. Their contents belong to the
// packages that write them.
package datadir

import "strings"

// These are the names of everything in a data directory. A new file must be listed here: Ours must
// recognise all files before Tandem closes a data directory to other users.
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
	LastEngine   = "last-engine.json"
	LastPolicy   = "policy.last"
	Layouts      = "layouts.json"
	Output       = "output"
	Page         = "page"
	Processes    = "processes"
	Recent       = "recent.json"
	Sandboxed    = "sandboxed"
	Scrub        = "scrub.json"
	Shell        = "shell"
	Tips         = "tips.json"
	Tmux         = "tmux"
	Transfers    = "transfers.json"
)

// These are the prefix and suffix of temporary files, as persist/store creates them.
const (
	TempPrefix = ".persist-"
	TempSuffix = ".tmp"
)

// Names returns the name of every file and directory in a data directory.
func Names() []string {
	return []string{
		ActivateLock, AgentSetup, AgentTokens, Audit, Bookmarks, EngineLock, EngineLog, EngineSocket, Environment, Fleet, History,
		Hub, KeeperLock, KeeperSocket, LastEngine, LastPolicy, Layouts, Output, Page, Processes, Recent, Sandboxed, Scrub, Shell, Tips, Tmux, Transfers,
	}
}

// Ours reports whether Tandem creates files of this name in a data directory. That is one of Names,
// a companion of one (a journal, the previous log, a damaged file set aside), or a temporary file
// left by a crash.
func Ours(name string) bool {
	if strings.HasPrefix(name, TempPrefix) && strings.HasSuffix(name, TempSuffix) {
		return true
	}
	// Temporary files of renameio are named .NAME and a number.
	temp, hidden := strings.CutPrefix(name, ".")
	for _, own := range Names() {
		rest, ok := strings.CutPrefix(temp, own)
		if ok && (rest == "" && !hidden || hidden && isNumber(rest) || !hidden && isCompanion(rest)) {
			return true
		}
	}
	return false
}

// isCompanion reports whether a name with this ending belongs to the file named without it.
func isCompanion(ending string) bool {
	for _, known := range []string{".bad", ".old", ".1", "-wal", "-shm", "-journal"} {
		if rest, ok := strings.CutPrefix(ending, known); ok && (rest == "" || known == ".bad") {
			return true
		}
	}
	return false
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
