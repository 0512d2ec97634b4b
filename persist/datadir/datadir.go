// Package datadir names the files and directories Tandem creates in a data directory. The packages that write them
// own their contents.
package datadir

import "strings"

// Names of everything in a data directory. Each new file needs its name here: Ours must recognise it before Tandem
// closes a data directory to other users.
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
	Page         = "page"
	Processes    = "processes"
	Recent       = "recent.json"
	Sandboxed    = "sandboxed"
	Shell        = "shell"
	Tips         = "tips.json"
	Tmux         = "tmux"
	Transfers    = "transfers.json"
)

// The prefix and suffix of temporary files, as persist/store creates them.
const (
	TempPrefix = ".persist-"
	TempSuffix = ".tmp"
)

// Names returns the name of every file and directory in a data directory.
func Names() []string {
	return []string{
		ActivateLock, AgentSetup, AgentTokens, Audit, Bookmarks, EngineLock, EngineLog, EngineSocket, Environment, Fleet, History,
		Hub, KeeperLock, KeeperSocket, LastEngine, LastPolicy, Layouts, Page, Processes, Recent, Sandboxed, Shell, Tips, Tmux, Transfers,
	}
}

// Ours reports whether Tandem creates files of this name in a data directory: one of Names, a companion of one (a
// journal, the previous log, a damaged file set aside) or a temporary file left by a crash.
func Ours(name string) bool {
	if strings.HasPrefix(name, TempPrefix) && strings.HasSuffix(name, TempSuffix) {
		return true
	}
	// renameio names its temporary files .NAME and a number.
	temp, hidden := strings.CutPrefix(name, ".")
	for _, own := range Names() {
		rest, ok := strings.CutPrefix(temp, own)
		if ok && (rest == "" && !hidden || hidden && isNumber(rest) || !hidden && isCompanion(rest)) {
			return true
		}
	}
	return false
}

// isCompanion reports whether a file with this ending belongs to the file without the ending.
func isCompanion(ending string) bool {
	for _, known := range []string{".bad", ".old", ".1", "-wal", "-shm", "-journal"} {
		if rest, ok := strings.CutPrefix(ending, known); ok && (rest == "" || known == ".bad") {
			return true
		}
	}
	return false
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
