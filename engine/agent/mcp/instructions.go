package mcp

import (
	"slices"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
)

// instructions returns the text an agent receives about the server, limited to the tools it has.
// prefix precedes each tool's name.
func instructions(prefix string, tools []toolkit.Tool) string {
	text := "Tandem runs commands, long-lived processes and terminal sessions that a person watches live and that outlive this connection."
	for _, hint := range []struct {
		about []string // the hint needs all of these tools
		text  string   // with @ before each tool's name
	}{
		{[]string{"exec", "process_start", "session_start"}, "Use @exec for a command that ends (its input is empty), @process_start for a server, " +
			"@session_start and @session_exec for a shell that keeps state."},
		{[]string{"process_wait", "session_wait"}, "Wait with @process_wait or @session_wait instead of polling. These and @agent_wait return after timeout_ms (default 50000, at most 600000)."},
		{[]string{"process_log", "session_read", "session_wait"}, "An id may be a name. Patterns are RE2, except the globs of find and grep. @process_log, @session_read and @session_wait begin at output that you have not seen; " +
			"since takes a next_cursor, 0 for all, or a negative number of bytes from the end; wait_ms waits at most that long for new output. Logs are read 32 KiB at a time unless max_output (at most 16 MiB) is given."},
		{[]string{"process_list", "session_list"}, "@process_list and @session_list show what runs or exited lately; all adds older ones."},
		{[]string{"session_screen"}, "@session_screen: diff gives only the rows changed since your last call; scrollback adds that many rows from above."},
		{[]string{"agent_prompt"}, "@agent_prompt types a task into another coding agent's session, as a paste and enter; @agent_wait waits for any of ids (default: all, the user's too); blocked means asking a question; " +
			"@agent_transcript gives its answer. Answer a blocked one with @session_write."},
		{[]string{"machine_list"}, "host (a name from @machine_list) runs a call on that machine, with its ids and environment; relative paths start in its home folder, or without host in the folder this server was started in."},
		{[]string{"exec", "process_log"}, "@exec shows up to 8000 characters of each stream, or the first and last 2000 of longer output; @process_log with since 0 has all of it. Exit codes are shown unless 0."},
	} {
		missing := func(name string) bool {
			return !slices.ContainsFunc(tools, func(t toolkit.Tool) bool { return t.Name == name })
		}
		if !slices.ContainsFunc(hint.about, missing) {
			text += " " + strings.ReplaceAll(hint.text, "@", prefix)
		}
	}
	return text
}
