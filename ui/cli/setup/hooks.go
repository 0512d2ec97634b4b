package setup

import (
	_ "embed"
	"slices"
	"strings"
)

// Hooks are what an agent's program can be told to run when something happens in it, so
// that it reports what it is doing.
type Hooks struct {
	Name  string // as the command line has it
	Title string
	Note  string // what is left to do once they are installed; "" for nothing

	program string // that is on PATH where the agent is installed
	file    place
	own     bool // the file has nothing else in it
	strict  bool // JSON without comments
	version int  // of the file's form; 0: it names none
	events  []hookEvent
	handler func(command string) fields // what runs a command
	grouped bool                        // handlers stand in groups, each with its matcher
	plugin  string                      // the text of a plugin, in the place of events
}

// A hookEvent is when a hook runs, and what it then reports: a state, or "" for the
// conversation alone.
type hookEvent struct{ event, matcher, state string }

//go:embed plugins/opencode.js
var opencodePlugin string

// hookPatience is how many seconds an agent waits for a hook.
const hookPatience = 5

// AllHooks are those of the agents that have any, each with the documentation that its row
// follows. Aider, Amp and Goose have none that tell when they ask something.
func AllHooks() []Hooks {
	seconds := func(command string) fields {
		return fields{{"type", "command"}, {"command", command}, {"timeout", hookPatience}}
	}
	return []Hooks{
		{ // https://code.claude.com/docs/en/hooks; PreToolUse: questions that need no permission
			Name: "claude", Title: "Claude Code", program: "claude", strict: true,
			file: place{"CLAUDE_CONFIG_DIR", "~/.claude", []string{"settings.json"}, ""},
			events: []hookEvent{
				{"SessionStart", "startup|resume|clear", "idle"}, {"UserPromptSubmit", "", "working"},
				{"PreToolUse", "AskUserQuestion|ExitPlanMode", "blocked"}, {"PermissionRequest", "", "blocked"},
				{"Notification", "elicitation_dialog", "blocked"}, {"PostToolUse", "", "working"},
				{"Stop", "", "done"}, {"SessionEnd", "", "unknown"},
			},
			handler: seconds, grouped: true,
		},
		{ // https://developers.openai.com/codex/hooks
			Name: "codex", Title: "Codex", program: "codex", strict: true,
			Note: "Codex asks you to trust them: type /hooks in it",
			file: place{"CODEX_HOME", "~/.codex", []string{"hooks.json"}, ""},
			events: []hookEvent{
				{"SessionStart", "startup|resume|clear", "idle"}, {"UserPromptSubmit", "", "working"},
				{"PermissionRequest", "", "blocked"}, {"PostToolUse", "", "working"}, {"Stop", "", "done"},
			},
			handler: seconds, grouped: true,
		},
		{ // https://docs.github.com/en/copilot/reference/hooks-reference; sessionStart comes with the first prompt
			Name: "copilot", Title: "Copilot CLI", program: "copilot", strict: true, own: true, version: 1,
			file: place{"COPILOT_HOME", "~/.copilot", []string{"hooks/tandem.json"}, ""},
			events: []hookEvent{
				{"sessionStart", "", ""}, {"userPromptSubmitted", "", "working"},
				{"notification", "permission_prompt|elicitation_dialog", "blocked"}, {"postToolUse", "", "working"},
				{"agentStop", "", "done"}, {"sessionEnd", "", "unknown"},
			},
			handler: func(command string) fields {
				return fields{{"type", "command"}, {"bash", command}, {"timeoutSec", hookPatience}}
			},
		},
		{ // github.com/charmbracelet/crush, docs/hooks/README.md; more events are in new versions alone, and old ones refuse their names
			Name: "crush", Title: "Crush", program: "crush", strict: true,
			Note:    "they report only its conversation; its state is read from the screen",
			file:    place{"XDG_CONFIG_HOME", "~/.config", []string{"crush/crush.json"}, "CRUSH_GLOBAL_CONFIG"},
			events:  []hookEvent{{"PreToolUse", "", ""}},
			handler: func(command string) fields { return fields{{"command", command}, {"timeout", hookPatience}} },
		},
		{ // https://cursor.com/docs/agent/hooks; none runs when it asks for a permission
			Name: "cursor", Title: "Cursor CLI", program: "cursor-agent", version: 1,
			file: place{"", "~/.cursor", []string{"hooks.json"}, ""},
			events: []hookEvent{
				{"sessionStart", "", ""}, {"beforeSubmitPrompt", "", "working"}, {"postToolUse", "", "working"},
				{"stop", "", "done"}, {"sessionEnd", "", "unknown"},
			},
			handler: func(command string) fields { return fields{{"command", command}, {"timeout", hookPatience}} },
		},
		{ // github.com/google-gemini/gemini-cli, docs/hooks/reference.md; its time is in milliseconds
			Name: "gemini", Title: "Gemini CLI", program: "gemini",
			file: place{"", "~/.gemini", []string{"settings.json"}, ""},
			events: []hookEvent{
				{"SessionStart", "", "idle"}, {"BeforeAgent", "", "working"}, {"Notification", "ToolPermission", "blocked"},
				{"AfterTool", "", "working"}, {"AfterAgent", "", "done"}, {"SessionEnd", "", "unknown"},
			},
			handler: func(command string) fields {
				return fields{{"name", serverName}, {"type", "command"}, {"command", command}, {"timeout", 1000 * hookPatience}}
			},
			grouped: true,
		},
		{ // https://opencode.ai/docs/plugins; the events' properties: github.com/sst/opencode, packages/opencode/src
			Name: "opencode", Title: "opencode", program: "opencode", own: true, plugin: opencodePlugin,
			file: place{"XDG_CONFIG_HOME", "~/.config", []string{"opencode/plugins/tandem.js"}, ""},
		},
	}
}

// HookNames are the names of the agents that have hooks.
func HookNames() (names []string) {
	for _, h := range AllHooks() {
		names = append(names, h.Name)
	}
	return names
}

// FindHooks are the hooks of an agent.
func FindHooks(name string) (Hooks, bool) {
	all := AllHooks()
	i := slices.IndexFunc(all, func(h Hooks) bool { return h.Name == name })
	if i < 0 {
		return Hooks{}, false
	}
	return all[i], true
}

// hookMark is in every command that is ours, and by it they are found again.
const hookMark = " agent report --hook"

// hookCommand is what an agent's shell runs. Outside Tandem it starts nothing, and it
// succeeds whatever becomes of Tandem: a hook's failure can refuse what a person has typed.
func hookCommand(program, state string) string {
	line := shellWord(program) + hookMark
	if state != "" {
		line += " --state " + state
	}
	return `[ -z "$TANDEM_SESSION_ID" ] || ` + line + " || true"
}

// shellWord is a word as a POSIX shell reads it.
func shellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// items are what is wanted in the settings, one an event.
func (h Hooks) items(program string) []fields {
	var all []fields
	for _, e := range h.events {
		handler := h.handler(hookCommand(program, e.state))
		switch {
		case h.grouped && e.matcher != "":
			all = append(all, fields{{"matcher", e.matcher}, {"hooks", []fields{handler}}})
		case h.grouped:
			all = append(all, fields{{"hooks", []fields{handler}}})
		case e.matcher != "":
			all = append(all, append(handler, field{"matcher", e.matcher}))
		default:
			all = append(all, handler)
		}
	}
	return all
}
