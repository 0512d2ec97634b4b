package api

import (
	"slices"
	"time"
)

// ProcessLogsInput is the input of process.logs. A log with a position in cursor is read from
// there. Any other log is read from since, or from its last lines, or else from its oldest byte;
// with backward, it is read from its end.
type ProcessLogsInput struct {
	IDs      []string    `json:"ids,omitempty" jsonschema:"ids, unique prefixes of ids, or names; not needed for those in \"cursor\""`
	Cursor   []LogCursor `json:"cursor,omitempty" jsonschema:"positions in the logs: \"id\", \"stream\" and \"next_cursor\" of each log of an earlier answer; they stay valid when the engine restarts"`
	Stream   string      `json:"stream,omitempty" jsonschema:"only stdout or stderr of processes in \"ids\" with separate files; default: both"`
	Since    *int64      `json:"since,omitempty" jsonschema:"absolute offset in bytes in each log of \"ids\"; negative counts from its end"`
	Tail     *int        `json:"tail,omitempty" jsonschema:"number of last lines of each process in \"ids\""`
	Backward bool        `json:"backward,omitempty" jsonschema:"return the lines before the positions instead of those after them"`
	Partial  bool        `json:"partial,omitempty" jsonschema:"return the unfinished last lines too; \"next_cursor\" stays before them"`
	Max      int         `json:"max,omitempty" jsonschema:"maximum bytes; default 64 KiB, at most 1 MiB"`
	Lines    int         `json:"lines,omitempty" jsonschema:"maximum number of lines; default: any"`
	WaitMS   int         `json:"wait_ms,omitempty" jsonschema:"milliseconds to wait for lines or the end of a log; at most 50000"`
	Grep     string      `json:"grep,omitempty" jsonschema:"regular expression (RE2): instead of lines, return the position of the next line that matches"`
}

func (in *ProcessLogsInput) ids() []*string {
	// The caller keeps its lists.
	in.IDs, in.Cursor = slices.Clone(in.IDs), slices.Clone(in.Cursor)
	all := pointersTo(in.IDs)
	for i := range in.Cursor {
		all = append(all, &in.Cursor[i].ID)
	}
	return all
}

// A LogCursor is a position in one of several logs.
type LogCursor struct {
	ID     string `json:"id" jsonschema:"id of the process"`
	Stream string `json:"stream,omitempty" jsonschema:"stdout or stderr of a process with separate files"`
	Offset int64  `json:"offset" jsonschema:"absolute offset of the start of a line"`
	Seen   int64  `json:"seen,omitempty" jsonschema:"for \"partial\" and \"wait_ms\": absolute offset after the unfinished line already returned; the wait ends once the line is longer"`
	Ended  bool   `json:"ended,omitempty" jsonschema:"for \"wait_ms\": the end of the log was reported, so it does not end the wait again"`
}

// ProcessLogsOutput is the output of process.logs.
type ProcessLogsOutput struct {
	Data      string     `json:"data" jsonschema:"lines of all logs, in the order of time"`
	DataBytes string     `json:"data_bytes,omitempty" jsonschema:"\"data\" in base64, if it is not UTF-8"`
	Parts     []LogsPart `json:"parts,omitempty" jsonschema:"the parts of \"data\", in order"`
	Logs      []LogState `json:"logs" jsonschema:"the logs, those of \"cursor\" first"`
	Processes []Process  `json:"processes,omitempty" jsonschema:"the processes of \"ids\" that are not in \"cursor\", without metrics"`
	Match     *LogsMatch `json:"match,omitempty" jsonschema:"the match for \"grep\"; the \"next_cursor\" of each log is then its place in the order of all lines"`
}

func (o *ProcessLogsOutput) Bulk() []Member {
	return []Member{
		{Name: "data", Text: &o.Data},
		{Name: "data_bytes", Text: &o.DataBytes},
	}
}

// Bytes returns the lines, byte for byte.
func (o *ProcessLogsOutput) Bytes() ([]byte, error) { return decodeExact(o.Data, o.DataBytes) }

// A LogsPart is a part of the data from one of several logs. It consists of whole lines, or of one
// line without its newline. The latter is a piece of a long line, the last line of an exited
// process, or Partial.
type LogsPart struct {
	Log     int        `json:"log" jsonschema:"index of its log in \"logs\""`
	Offset  int64      `json:"offset" jsonschema:"absolute offset of the part in that log"`
	Bytes   int        `json:"bytes" jsonschema:"length of the part in bytes"`
	At      *time.Time `json:"at,omitempty" jsonschema:"when it was written, to a tenth of a second, if the engine observed it"`
	Partial bool       `json:"partial,omitempty" jsonschema:"the part is an unfinished line"`
}

// A LogState is the state of one of several logs.
type LogState struct {
	ID      string `json:"id" jsonschema:"id of the process"`
	Stream  string `json:"stream,omitempty" jsonschema:"stdout or stderr of a process with separate files"`
	Start   int64  `json:"start" jsonschema:"absolute offset of its first line in \"data\""`
	Next    int64  `json:"next_cursor" jsonschema:"absolute offset after its last line in \"data\": its position in \"cursor\" of the next call"`
	End     int64  `json:"end" jsonschema:"absolute offset after the last byte written so far"`
	Dropped int64  `json:"dropped" jsonschema:"bytes before the oldest one kept"`
	Lost    int64  `json:"lost,omitempty" jsonschema:"bytes between its position and \"start\" that were dropped because the log is limited"`
	Ended   bool   `json:"ended,omitempty" jsonschema:"the log was read to its end, and its process has exited"`
	Error   string `json:"error,omitempty" jsonschema:"why the log cannot be read: it or the process was deleted"`
}

// Cursor returns the position after the lines.
func (s LogState) Cursor() LogCursor {
	return LogCursor{ID: s.ID, Stream: s.Stream, Offset: s.Next, Ended: s.Ended}
}

// A LogsMatch is a line of several logs found by a search.
type LogsMatch struct {
	Log     int   `json:"log" jsonschema:"index of its log in \"logs\""`
	Offset  int64 `json:"offset" jsonschema:"absolute offset of the line in that log"`
	Number  int   `json:"number" jsonschema:"number of the match, from 1"`
	Total   int   `json:"total" jsonschema:"number of matching lines"`
	Wrapped bool  `json:"wrapped,omitempty" jsonschema:"the match was found only after the search wrapped"`
}

// OutputSearch searches what sessions and processes have printed.
var OutputSearch = NewOperation[OutputSearchInput, OutputSearchOutput]("output.search",
	"Searches the output of all sessions and processes, running or exited, newest first, for as long as the call may take.", Read,
	Row[OutputSearchInput]{Access: Filtered, Host: (*OutputSearchInput).host})

// OutputSearchInput is the input of output.search. A search takes several calls: each continues at
// the cursor of the one before, and the caller ends it by not calling again. Lines are matched as
// with grep of process.log. A session or process must meet all given conditions.
type OutputSearchInput struct {
	Pattern
	Name    string     `json:"name,omitempty" jsonschema:"only sessions and processes with this name or id; * and ? stand for any characters"`
	Project string     `json:"project,omitempty" jsonschema:"only those started by the project file of this project; * and ? as in name"`
	Actor   string     `json:"actor,omitempty" jsonschema:"only those started by this actor: person, agent (any agent), or one exactly"`
	Command string     `json:"command,omitempty" jsonschema:"only those whose program and arguments contain this text, in any case"`
	Kind    string     `json:"kind,omitempty" jsonschema:"only session, process or exec"`
	Failed  bool       `json:"failed,omitempty" jsonschema:"only those that failed: they exited with a code other than 0, or a signal killed them without a request to stop"`
	Running bool       `json:"running,omitempty" jsonschema:"only those that are running"`
	Since   *time.Time `json:"since,omitempty" jsonschema:"only lines written at or after this time, as far as known"`
	Until   *time.Time `json:"until,omitempty" jsonschema:"only lines written before this time, as far as known"`
	Context int        `json:"context,omitempty" jsonschema:"number of lines before and after each match; at most 100"`
	Limit   int        `json:"limit,omitempty" jsonschema:"maximum number of matching lines; default 100, at most 1000"`
	WaitMS  int        `json:"wait_ms,omitempty" jsonschema:"how long to search before returning; default 80, at most 1000"`

	Cursor *OutputCursor `json:"cursor,omitempty" jsonschema:"where to continue: the cursor of the previous answer"`
	Host   string        `json:"host,omitempty" jsonschema:"the machine to search; default this one"`
}

// An OutputCursor is a position in a search of all output. It stays valid when logs grow, are
// trimmed or deleted, and when the engine restarts.
type OutputCursor struct {
	Began   time.Time `json:"began" jsonschema:"when the first call was made"`
	Group   int       `json:"group" jsonschema:"0 for running sessions and processes, 1 for exited ones, 2 for those that have started or exited since the time in \"began\", 3 for output kept without a record"`
	At      time.Time `json:"at,omitzero" jsonschema:"when the session or process of the log started or, in groups 1 and 3, exited"`
	ID      string    `json:"id" jsonschema:"id of the session or process of the log"`
	Stream  string    `json:"stream,omitempty" jsonschema:"stdout or stderr of a process with separate files"`
	Offset  int64     `json:"offset" jsonschema:"absolute offset in the log: lines from there on have been searched"`
	Skipped int       `json:"skipped,omitempty" jsonschema:"number of logs that could not be read so far"`
}

// OutputSearchOutput is the output of output.search.
type OutputSearchOutput struct {
	Hits     []OutputHit   `json:"hits" jsonschema:"matching lines, newest first: those of running sessions and processes by start, then those of exited ones by exit, then kept output without a record; within a log, from its end to its start"`
	Cursor   *OutputCursor `json:"cursor,omitempty" jsonschema:"where to continue; missing if everything was searched"`
	Searched int64         `json:"searched" jsonschema:"number of bytes searched by this call"`
	Left     int64         `json:"left" jsonschema:"approximate number of bytes still to be searched"`
	Skipped  int           `json:"skipped,omitempty" jsonschema:"number of logs that could not be read so far"`
	Withheld int           `json:"withheld,omitempty" jsonschema:"number of sessions and processes left out because the caller may not read them; approximate for those without a record"`
}

// KeptOutput is an amount of output without a record. process.get, process.log and process.remove find
// it by the id of its session or process.
type KeptOutput struct {
	Runs  int   `json:"runs" jsonschema:"number of sessions and one-shot commands"`
	Bytes int64 `json:"bytes" jsonschema:"approximate size on disk"`
}

// An OutputHit is a matching line. If its session or process is restarted, exits or loses its record
// during a search, a line may be reported twice, with the same id, stream and offset.
type OutputHit struct {
	ID    string `json:"id" jsonschema:"id of the session or process"`
	Name  string `json:"name" jsonschema:"its name"`
	Kind  string `json:"kind" jsonschema:"session, process or exec"`
	Actor string `json:"actor" jsonschema:"who started it: person, agent:NAME, or tandem for itself"`
	From  string `json:"from,omitempty" jsonschema:"the machine it was started from, as user@host, if not this one"`

	State      State  `json:"state" jsonschema:"state of the session or process"`
	ExitCode   *int   `json:"exit_code" jsonschema:"exit code of the session or process; null while it runs, if a signal killed it, and if its exit was not observed"`
	ExitSignal string `json:"exit_signal,omitempty" jsonschema:"the signal that killed it"`

	Time  time.Time `json:"time,omitzero" jsonschema:"when the line was written, to a tenth of a second if the engine observed it"`
	Rough bool      `json:"rough,omitempty" jsonschema:"\"time\" is only the start of its command, or else when the session or process exited or, while it runs, started"`
	LogMatch
	Run *Command `json:"run,omitempty" jsonschema:"the command of the session's shell that printed it, if known"`
}
