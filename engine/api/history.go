package api

import "time"

// These are the operations on the history: commands with their actor, folder and exit status.
var (
	HistorySearch = NewOperation[HistorySearchInput, HistorySearchOutput]("history.search",
		"Finds past commands, best match or newest first.", Read,
		Row[HistorySearchInput]{Access: Unrestricted, IDs: (*HistorySearchInput).ids, Adapt: (*HistorySearchInput).adapt})
	HistoryAdd = NewOperation[HistoryAddInput, Command]("history.add",
		"Adds a command run outside Tandem.", Write,
		Row[HistoryAddInput]{Access: Starting, Repeat: RepeatNever})
	HistoryRemove = NewOperation[HistoryRemoveInput, HistoryCount]("history.remove",
		"Deletes commands.", Destructive,
		Row[HistoryRemoveInput]{Access: UserOnly, Repeat: RepeatAlways, Host: (*HistoryRemoveInput).host})
	HistoryClear = NewOperation[Empty, HistoryCount]("history.clear",
		"Deletes all commands.", Destructive,
		Row[Empty]{Access: UserOnly, Repeat: RepeatAlways})
	HistorySave = NewOperation[HistorySaveInput, HistoryCount]("history.save",
		"Writes the commands to a text file, oldest first, one per line.", Write,
		Row[HistorySaveInput]{Access: OnFiles, Repeat: RepeatNever, Paths: (*HistorySaveInput).paths})
	HistoryLoad = NewOperation[HistoryLoadInput, HistoryCount]("history.load",
		"Adds the commands of a text file.", Write,
		Row[HistoryLoadInput]{Access: OnFiles, Repeat: RepeatMarked, Paths: (*HistoryLoadInput).paths})
	HistoryLoading = NewOperation[Empty, HistoryLoadingOutput]("history.loading",
		"Reports the progress of running history.load calls.", Read,
		Row[Empty]{Access: UserOnly})
	HistoryStats = NewOperation[HistoryStatsInput, HistoryStatsOutput]("history.stats",
		"Counts commands: how many, how often, how many failed.", Read,
		Row[HistoryStatsInput]{Access: Unrestricted})

	CommandsList = NewOperation[Empty, CommandsOutput]("commands.list",
		"Lists the commands run successfully by agents since the engine started, oldest first.", Read,
		Row[Empty]{Access: Unrestricted})
	CommandsAdd = NewOperation[CommandsInput, CommandsOutput]("commands.add",
		// Always repeated: the list is lost with the engine.
		"Adds to the list of commands.list; nothing else changes.", Write,
		Row[CommandsInput]{Access: Unrestricted, Repeat: RepeatAlways})
	CommandsReplace = NewOperation[CommandsInput, CommandsOutput]("commands.replace",
		"Replaces the list of commands.list; the history stays.", Write,
		Row[CommandsInput]{Access: Unrestricted, Repeat: RepeatAlways})
)

// A Command is one run of a command. It is a line typed at a session's prompt, a one-shot command,
// or a process.
type Command struct {
	ID         int64     `json:"id" jsonschema:"number of the run"`
	Command    string    `json:"command" jsonschema:"the command line; secrets in it are replaced by ***"`
	CWD        string    `json:"cwd" jsonschema:"folder it ran in; empty if unknown"`
	StartedAt  time.Time `json:"started_at" jsonschema:"when it began"`
	DurationMS int64     `json:"duration_ms" jsonschema:"run time in milliseconds; -1 if unknown or still running"`
	ExitCode   *int      `json:"exit_code" jsonschema:"null if unknown, killed by a signal, or still running"`
	ExitSignal string    `json:"exit_signal,omitempty" jsonschema:"the signal that killed it"`
	Stopped    bool      `json:"stopped,omitempty" jsonschema:"it was stopped on request, which is not a failure"`
	Actor      string    `json:"actor" jsonschema:"who ran it: person (the user), or agent:NAME/VERSION"`
	From       string    `json:"from,omitempty" jsonschema:"the machine it was run from, as user@host, if not this one"`
	Kind       string    `json:"kind" jsonschema:"session, exec, process or added"`
	Process    string    `json:"process,omitempty" jsonschema:"id of the session or process; its record may be gone"`
	LogStart   int64     `json:"log_start,omitempty" jsonschema:"offset of its output in the session's log"`
	LogEnd     int64     `json:"log_end,omitempty" jsonschema:"offset after its output; 0 while it runs"`

	Host string `json:"host,omitempty" jsonschema:"the other machine on which it ran"`
}

// HistorySearchInput is the input of history.search. A run must meet all given conditions.
type HistorySearchInput struct {
	Query   string     `json:"query,omitempty" jsonschema:"fuzzy, in fzf's syntax: words in any order, 'exact, ^start, end$, !not; empty: all, newest first"`
	CWD     string     `json:"cwd,omitempty" jsonschema:"only runs in this folder"`
	Process string     `json:"process,omitempty" jsonschema:"only runs in this session or process, by id"`
	Actor   string     `json:"actor,omitempty" jsonschema:"only runs by this actor: person, agent (any agent), or one actor exactly"`
	From    string     `json:"from,omitempty" jsonschema:"only runs started from this other machine, given by the beginning of its user@host or of its host"`
	Kind    string     `json:"kind,omitempty" jsonschema:"only runs of this kind: session, exec, process or added"`
	Failed  bool       `json:"failed,omitempty" jsonschema:"only runs that exited with a code other than 0 or were killed by a signal, and were not stopped on request"`
	Since   *time.Time `json:"since,omitempty" jsonschema:"only runs started at or after this time"`
	Exact   string     `json:"exact,omitempty" jsonschema:"only runs of exactly this command line"`
	Unique  bool       `json:"unique,omitempty" jsonschema:"merge equal command lines into the newest run, with a count"`
	Limit   int        `json:"limit,omitempty" jsonschema:"maximum number of rows; default 50, at most 1000"`
	Offset  int        `json:"offset,omitempty" jsonschema:"number of rows to skip"`

	Hosts []string `json:"hosts,omitempty" jsonschema:"machines to ask; an empty name means this machine; default: only this machine"`
	Soon  bool     `json:"soon,omitempty" jsonschema:"with several \"hosts\": do not wait for slow ones; a history event follows their answers"`
}

// A HistoryRow is a run found by a search.
type HistoryRow struct {
	Command
	Runs    int   `json:"runs" jsonschema:"number of matching runs of this command line, if \"unique\" is set; otherwise 1"`
	Matched []int `json:"matched,omitempty" jsonschema:"indexes of the matching characters (Unicode code points) of \"command\""`
	Score   int   `json:"score,omitempty" jsonschema:"quality of the match with \"query\", to merge rows of several engines"`
}

// HistorySearchOutput is the output of history.search.
type HistorySearchOutput struct {
	Rows  []HistoryRow `json:"rows" jsonschema:"best match first, the newer first among equals"`
	Total int          `json:"total" jsonschema:"number of matching rows, including those beyond the limit"`

	Missing []HostError `json:"missing,omitempty" jsonschema:"machines in \"hosts\" that could not be searched"`
}

// HistoryAddInput is the input of history.add.
type HistoryAddInput struct {
	Command    string     `json:"command" jsonschema:"the command line"`
	CWD        string     `json:"cwd,omitempty" jsonschema:"folder it ran in"`
	StartedAt  *time.Time `json:"started_at,omitempty" jsonschema:"default now"`
	DurationMS *int64     `json:"duration_ms,omitempty" jsonschema:"run time in milliseconds"`
	ExitCode   *int       `json:"exit_code,omitempty" jsonschema:"exit code of the run"`
	Actor      string     `json:"actor,omitempty" jsonschema:"who ran it; default the caller"`
}

// HistoryRemoveInput is the input of history.remove. At least one field must be set.
type HistoryRemoveInput struct {
	IDs     []int64 `json:"ids,omitempty" jsonschema:"remove these runs"`
	Command string  `json:"command,omitempty" jsonschema:"remove every run of this command line"`

	Host string `json:"host,omitempty" jsonschema:"the machine with these runs; default this one"`
}

// HistoryCount is the number of commands added, deleted or written.
type HistoryCount struct {
	Count    int  `json:"count" jsonschema:"number of commands"`
	LeftOut  int  `json:"left_out,omitempty" jsonschema:"number of damaged lines, and of commands of more than 64 KiB, that history.load left out"`
	Replaced bool `json:"replaced,omitempty" jsonschema:"history.save has replaced an existing file"`
}

// HistorySaveInput is the input of history.save. In the file, there is a backslash before each line
// break within a command, and backslashes at the end of such a line are doubled. The error is
// conflict if the file exists and overwrite is not set, and invalid if the path is not absolute.
type HistorySaveInput struct {
	FileScope
	Path      string `json:"path" jsonschema:"absolute path; missing folders are created"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace an existing file"`
	Recent    bool   `json:"recent,omitempty" jsonschema:"save the list of commands.list instead of the history"`

	IDs []int64 `json:"ids,omitempty" jsonschema:"save only these runs of the history"`
}

// HistoryLoadInput is the input of history.load. Blank lines are skipped. The error is not_found if
// the file does not exist, and invalid if the path is not absolute or the file is not text. The
// history changes only after the whole file was read and its commands are on disk. A call cancelled
// before that adds nothing.
type HistoryLoadInput struct {
	FileScope
	Path   string `json:"path" jsonschema:"absolute path of a text file with one command per line; histories of bash, zsh and fish, and atuin's database, are understood too"`
	Format string `json:"format,omitempty" jsonschema:"bash, zsh or fish: the shell for entries without a header; default: detected from the other entries"`
	Recent bool   `json:"recent,omitempty" jsonschema:"replace the list of commands.list by a file of history.save, without changing the history"`

	At time.Time `json:"at,omitzero" jsonschema:"time to record for commands without one in the file; a second call with the same time adds no duplicates; default: now"`
}

// HistoryLoadingOutput is the output of history.loading.
type HistoryLoadingOutput struct {
	Loads []HistoryProgress `json:"loads" jsonschema:"one entry per running call"`
}

// HistoryProgress is the progress of one call of history.load.
type HistoryProgress struct {
	Path  string `json:"path" jsonschema:"the file being loaded"`
	Done  int    `json:"done" jsonschema:"number of commands loaded so far"`
	Total int    `json:"total" jsonschema:"number of commands in the file"`
}

// HistoryStatsInput is the input of history.stats.
type HistoryStatsInput struct {
	Since *time.Time `json:"since,omitempty" jsonschema:"count runs started at or after this time"`
	Actor string     `json:"actor,omitempty" jsonschema:"count only what this actor ran: person, agent (any agent), or one actor exactly; the list of actors counts all"`
	Limit int        `json:"limit,omitempty" jsonschema:"length of the lists; default 10"`
}

// HistoryStatsOutput is the output of history.stats.
type HistoryStatsOutput struct {
	Total    int         `json:"total" jsonschema:"number of runs"`
	Unique   int         `json:"unique" jsonschema:"number of different command lines"`
	Failed   int         `json:"failed" jsonschema:"number of runs that failed"`
	Programs []NameCount `json:"programs" jsonschema:"first words of command lines, most frequent first"`
	Commands []NameCount `json:"commands" jsonschema:"command lines, most frequent first"`
	Folders  []NameCount `json:"folders" jsonschema:"folders, most runs first"`
	Actors   []NameCount `json:"actors" jsonschema:"actors, most runs first"`
	Failures []NameCount `json:"failures" jsonschema:"command lines that failed, most often first"`
	Days     []NameCount `json:"days" jsonschema:"starts per day, as 2026-11-20 in the engine's time zone, newest first"`
}

// NameCount is a line of statistics.
type NameCount struct {
	Name  string `json:"name" jsonschema:"the item counted"`
	Count int    `json:"count" jsonschema:"number of occurrences"`
}

// CommandsInput is the input of commands.add and commands.replace.
type CommandsInput struct {
	Commands []string `json:"commands" jsonschema:"command lines, oldest first"`
}

// CommandsOutput is the list after the operation.
type CommandsOutput struct {
	Commands []string `json:"commands" jsonschema:"command lines, oldest first"`
}
