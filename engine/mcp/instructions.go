package mcp

import (
	"slices"
	"strings"

	"tandem/engine/mcp/toolkit"
)

// instructions tell an agent what a server is for, and how the tools that it
// has go together.
func instructions(prefix string, tools []toolkit.Tool) string {
	said := "Tandem runs commands, long-lived processes and terminal sessions that a person watches live and that outlive this connection."
	for _, hint := range []struct {
		about []string // tools that it is about, all of which have to be there
		text  string   // with @ before each tool's name
	}{
		{[]string{"exec", "process_start", "session_start"}, "Use @exec for a command that ends, @process_start for a server, " +
			"@session_start and @session_exec for a shell that keeps its state."},
		{[]string{"process_wait", "session_wait"}, "Wait with @process_wait or @session_wait instead of polling. They wait 50 s unless timeout_ms (at most 600000) is given."},
		{[]string{"process_log", "session_read", "session_wait"}, "Where a tool takes an id, a name does too. Patterns are RE2, except the globs of find and grep. @process_log, @session_read and @session_wait begin at output that you have not seen; " +
			"since 0 gives all again, a negative since that many bytes from the end; wait_ms waits at most that long for new output. Logs are read 32 KiB at a time unless max_output (at most 16 MiB) is given."},
		{[]string{"process_list", "session_list"}, "@process_list and @session_list show what runs and what exited lately; all shows the rest too."},
		{[]string{"session_screen"}, "@session_screen with diff gives only the rows that changed since your last call; scrollback is the number of rows to add from above the screen."},
		{[]string{"agent_prompt"}, "@agent_prompt types a task into another coding agent's session, as a paste and enter; @agent_wait waits for any of ids (default: all), by default until one is blocked on a question or done; " +
			"@agent_transcript gives its answer. Answer a blocked one with @session_write."},
		{[]string{"machine_list"}, "host (a name from @machine_list) runs a call on that machine, with its ids and environment; relative paths start in its home folder, without host in this server's."},
		{[]string{"exec", "process_log"}, "@exec shows up to 8000 characters of each stream, or the first and last 2000 of longer output; @process_log has all of it. A command that ended without an exit code in its result exited with 0."},
	} {
		missing := func(name string) bool {
			return !slices.ContainsFunc(tools, func(t toolkit.Tool) bool { return t.Name == name })
		}
		if !slices.ContainsFunc(hint.about, missing) {
			said += " " + strings.ReplaceAll(hint.text, "@", prefix)
		}
	}
	return said
}
