package api

import "time"

// The operations of the history: what was run, by whom, where, and how it ended.
var (
	HistorySearch = NewOperation[HistorySearchInput, HistorySearchOutput]("history.search",
		"Finds commands that were run, best match or newest first.", Read)
	HistoryAdd = NewOperation[HistoryAddInput, Command]("history.add",
		"Adds a command that was run elsewhere.", Write)
	HistoryRemove = NewOperation[HistoryRemoveInput, HistoryCount]("history.remove",
		"Forgets commands.", Destructive)
	HistoryClear = NewOperation[Empty, HistoryCount]("history.clear",
		"Forgets every command.", Destructive)
	HistorySave = NewOperation[HistorySaveInput, HistoryCount]("history.save",
		"Writes the commands, oldest first, to a text file, one a line.", Write)
	HistoryLoad = NewOperation[HistoryLoadInput, HistoryCount]("history.load",
		"Adds the commands of a text file.", Write)
	HistoryLoading = NewOperation[Empty, HistoryLoadingOutput]("history.loading",
		"Tells how far calls of history.load are that are under way.", Read)
	HistoryStats = NewOperation[HistoryStatsInput, HistoryStatsOutput]("history.stats",
		"Counts commands: how many, how often, how many failed.", Read)

	CommandsList = NewOperation[Empty, CommandsOutput]("commands.list",
		"Lists the commands that agents ran with success since the engine started, oldest first.", Read)
	CommandsAdd = NewOperation[CommandsInput, CommandsOutput]("commands.add",
		"Adds to the list of commands.list; nothing else changes.", Write)
	CommandsReplace = NewOperation[CommandsInput, CommandsOutput]("commands.replace",
		"Replaces the list of commands.list; the history stays.", Write)
)

// A Command is one run of a command: a line typed at a session's prompt, a
// one-shot command, or a process.
type Command struct {
	ID         int64     `json:"id" jsonschema:"number of the run"`
	Command    string    `json:"command" jsonschema:"the command line; secrets in it are replaced by ***"`
	CWD        string    `json:"cwd" jsonschema:"folder it ran in; empty if unknown"`
	StartedAt  time.Time `json:"started_at" jsonschema:"when it began"`
	DurationMS int64     `json:"duration_ms" jsonschema:"how long it ran; -1 if unknown or still running"`
	ExitCode   *int      `json:"exit_code" jsonschema:"null if unknown, ended by a signal, or still running"`
	ExitSignal string    `json:"exit_signal,omitempty" jsonschema:"the signal that ended it"`
	Stopped    bool      `json:"stopped,omitempty" jsonschema:"it was stopped on request, which is not a failure"`
	Actor      string    `json:"actor" jsonschema:"who ran it: person, or agent:NAME/VERSION"`
	From       string    `json:"from,omitempty" jsonschema:"the machine that it was run from, as user@host, if that is another one"`
	Kind       string    `json:"kind" jsonschema:"session, exec, process or added"`
	Process    string    `json:"process,omitempty" jsonschema:"id of the session or process; its record may be gone"`
	LogStart   int64     `json:"log_start,omitempty" jsonschema:"offset in that session's log where its output begins"`
	LogEnd     int64     `json:"log_end,omitempty" jsonschema:"offset behind its output; 0 while it runs"`

	Host string `json:"-"` // the machine that it ran on, in a view of several; "" for the own one
}

// HistorySearchInput is the input of history.search; what is set has to hold.
type HistorySearchInput struct {
	Query   string     `json:"query,omitempty" jsonschema:"fuzzy, in fzf's syntax: words in any order, 'exact, ^start, end$, !not; empty: all, newest first"`
	CWD     string     `json:"cwd,omitempty" jsonschema:"ran in this folder"`
	Process string     `json:"process,omitempty" jsonschema:"ran in this session or process, by id"`
	Actor   string     `json:"actor,omitempty" jsonschema:"person, agent for any agent, or one exactly"`
	From    string     `json:"from,omitempty" jsonschema:"run from this other machine: the beginning of its user@host or of its host"`
	Kind    string     `json:"kind,omitempty" jsonschema:"session, exec, process or added"`
	Failed  bool       `json:"failed,omitempty" jsonschema:"ended with a code other than 0 or by a signal, and was not stopped on request"`
	Since   *time.Time `json:"since,omitempty" jsonschema:"began at or after this"`
	Exact   string     `json:"exact,omitempty" jsonschema:"this command line and no other: all its runs"`
	Unique  bool       `json:"unique,omitempty" jsonschema:"of equal command lines only the newest run, with the number of all"`
	Limit   int        `json:"limit,omitempty" jsonschema:"rows at most; default 50, at most 1000"`
	Offset  int        `json:"offset,omitempty" jsonschema:"rows to leave out first"`

	Hosts []string `json:"-"` // the machines that a view of several asks, "" for the own one; none for that alone
}

// A HistoryRow is a run that a search has found.
type HistoryRow struct {
	Command
	Runs    int   `json:"runs" jsonschema:"with unique: runs of this command line that match; else 1"`
	Matched []int `json:"matched,omitempty" jsonschema:"indexes of the characters (Unicode code points) of command that match the query"`
	Score   int   `json:"score,omitempty" jsonschema:"with a query: how well it matches, to merge rows of several engines"`
}

// HistorySearchOutput is the output of history.search.
type HistorySearchOutput struct {
	Rows  []HistoryRow `json:"rows" jsonschema:"best match first, the newer first among equals"`
	Total int          `json:"total" jsonschema:"rows that match, those beyond the limit included"`

	Missing []string `json:"-"` // what of several machines could not be searched, and why
}

// HistoryAddInput is the input of history.add.
type HistoryAddInput struct {
	Command    string     `json:"command" jsonschema:"the command line"`
	CWD        string     `json:"cwd,omitempty" jsonschema:"folder it ran in"`
	StartedAt  *time.Time `json:"started_at,omitempty" jsonschema:"default now"`
	DurationMS *int64     `json:"duration_ms,omitempty" jsonschema:"how long it ran"`
	ExitCode   *int       `json:"exit_code,omitempty" jsonschema:"how it ended"`
	Actor      string     `json:"actor,omitempty" jsonschema:"who ran it; default who calls"`
}

// HistoryRemoveInput is the input of history.remove; at least one has to be set.
type HistoryRemoveInput struct {
	IDs     []int64 `json:"ids,omitempty" jsonschema:"these runs"`
	Command string  `json:"command,omitempty" jsonschema:"every run of this command line"`

	Host string `json:"-"` // the machine whose runs they are, in a view of several; "" for the own one
}

// HistoryCount says how many commands an operation has dealt with.
type HistoryCount struct {
	Count    int  `json:"count" jsonschema:"commands"`
	Replaced bool `json:"replaced,omitempty" jsonschema:"history.save: a file was there and was replaced"`
}

// HistorySaveInput is the input of history.save. In the file a line break
// within a command has a backslash before it, and backslashes at the end of one
// of its lines are doubled. The error is conflict when the file is there and may
// not be replaced, invalid when the path is not absolute.
type HistorySaveInput struct {
	FileScope
	Path      string `json:"path" jsonschema:"absolute path; folders that lack are made"`
	Overwrite bool   `json:"overwrite,omitempty" jsonschema:"replace an existing file"`
	Recent    bool   `json:"recent,omitempty" jsonschema:"the list of commands.list instead of the history"`

	IDs []int64 `json:"ids,omitempty" jsonschema:"only these runs of the history"`
}

// HistoryLoadInput is the input of history.load; blank lines are skipped. The
// error is not_found when no such file, invalid when the path is not
// absolute or the file is no text. Nothing changes unless the whole file was read
// and its commands are on disk: who hangs up before that has loaded nothing.
type HistoryLoadInput struct {
	FileScope
	Path   string `json:"path" jsonschema:"absolute path of a text file, one command a line; histories of bash, zsh and fish, and atuin's database, are understood too"`
	Format string `json:"format,omitempty" jsonschema:"bash, zsh or fish: the shell that wrote entries without a header; default: detected from the other entries"`
	Recent bool   `json:"recent,omitempty" jsonschema:"replace the list of commands.list by what history.save wrote, and leave the history as it is"`

	At time.Time `json:"at,omitzero" jsonschema:"time to record for commands without one in the file; a second call with the same time adds no duplicates; default: now"`
}

// HistoryLoadingOutput is the output of history.loading.
type HistoryLoadingOutput struct {
	Loads []HistoryProgress `json:"loads" jsonschema:"one of each call"`
}

// HistoryProgress is how far a call of history.load is.
type HistoryProgress struct {
	Path  string `json:"path" jsonschema:"the file that is loaded"`
	Done  int    `json:"done" jsonschema:"commands so far"`
	Total int    `json:"total" jsonschema:"commands of the file"`
}

// HistoryStatsInput is the input of history.stats.
type HistoryStatsInput struct {
	Since *time.Time `json:"since,omitempty" jsonschema:"count what began at or after this"`
	Limit int        `json:"limit,omitempty" jsonschema:"length of the lists; default 10"`
}

// HistoryStatsOutput is the output of history.stats.
type HistoryStatsOutput struct {
	Total    int         `json:"total" jsonschema:"runs"`
	Unique   int         `json:"unique" jsonschema:"different command lines"`
	Failed   int         `json:"failed" jsonschema:"runs that failed"`
	Programs []NameCount `json:"programs" jsonschema:"first words, most often run first"`
	Commands []NameCount `json:"commands" jsonschema:"command lines, most often run first"`
	Folders  []NameCount `json:"folders" jsonschema:"folders, most often run in first"`
	Actors   []NameCount `json:"actors" jsonschema:"who ran how many"`
	Failures []NameCount `json:"failures" jsonschema:"command lines that failed, most often first"`
	Days     []NameCount `json:"days" jsonschema:"days on which commands began, as 2026-11-20 in the engine's time zone, newest first"`
}

// NameCount is a line of statistics.
type NameCount struct {
	Name  string `json:"name" jsonschema:"what is counted"`
	Count int    `json:"count" jsonschema:"how often"`
}

// CommandsInput is the input of commands.add and commands.replace.
type CommandsInput struct {
	Commands []string `json:"commands" jsonschema:"command lines, oldest first"`
}

// CommandsOutput is the list after the operation.
type CommandsOutput struct {
	Commands []string `json:"commands" jsonschema:"command lines, oldest first"`
}
