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
		{[]string{"process_wait", "session_wait"}, "Wait with @process_wait or @session_wait instead of polling: for 50 s, or timeout_ms up to 600000."},
		{[]string{"process_log", "session_read"}, "Where a tool takes an id, a name does too; patterns are RE2. @process_log and @session_read give what you have not seen; since 0 gives all again. " +
			"Logs and sessions are read 32 KiB at a time unless max_output says more."},
		{[]string{"agent_prompt"}, "@agent_prompt types a task into another coding agent's session, as a paste and enter; @agent_wait waits for any of ids, by default until one is blocked on a question or done; " +
			"@agent_transcript gives its answer."},
		{[]string{"machine_list"}, "host, a name from @machine_list, does a call on that machine: its ids, environment and home folder, where paths begin."},
		{[]string{"exec", "process_log"}, "@exec gives the last 8000 characters of each stream unless maxOutput says more; @process_log reads all. Where a command has no exit code it is 0."},
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
