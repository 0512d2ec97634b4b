package setup

import (
	_ "embed"

	"tandem/engine/base/shell"
)

// Hooks are commands in the settings of an agent's program, run by it at certain events, to report the
// agent's state to Tandem.
type Hooks struct {
	Name  string // on Tandem's command line
	Title string
	Note  string // limits of the hooks, or steps left to the user after installing; "" for none

	program  string // name of the agent's executable in PATH
	location location
	ownFile  bool // the file belongs to Tandem and has no other content
	strict   bool // the file is JSON without comments and trailing commas
	version  int  // format version in the file; 0 if it has none
	events   []hookEvent
	handler  func(command string) fields // returns a handler for command
	grouped  bool                        // handlers are listed in groups with a common matcher
	plugin   string                      // source of a plugin, used instead of events; "" for none
}

// A hookEvent is an event of an agent's program and the state to report for it. An empty state reports
// only the conversation.
type hookEvent struct{ event, matcher, state string }

//go:embed plugins/opencode.js
var opencodePlugin string

// hookTimeout is the time in seconds after which an agent gives up on a hook.
const hookTimeout = 5

// AllHooks returns the hooks of all supported agents. The comment of each row links to the agent's
// documentation. Aider, Amp and Goose are missing because no hook of theirs reports a question to the
// user.
func AllHooks() []Hooks {
	seconds := func(command string) fields {
		return fields{{"type", "command"}, {"command", command}, {"timeout", hookTimeout}}
	}
	return []Hooks{
		{ // https://code.claude.com/docs/en/hooks; PreToolUse covers questions without a permission request
			Name: "claude", Title: "Claude Code", program: "claude", strict: true,
			location: location{"CLAUDE_CONFIG_DIR", "~/.claude", []string{"settings.json"}, ""},
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
			Note:     "Codex asks you to trust them: type /hooks in it",
			location: location{"CODEX_HOME", "~/.codex", []string{"hooks.json"}, ""},
			events: []hookEvent{
				{"SessionStart", "startup|resume|clear", "idle"}, {"UserPromptSubmit", "", "working"},
				{"PermissionRequest", "", "blocked"}, {"PostToolUse", "", "working"}, {"Stop", "", "done"},
			},
			handler: seconds, grouped: true,
		},
		{ // https://docs.github.com/en/copilot/reference/hooks-reference; sessionStart runs only at the first prompt
			Name: "copilot", Title: "Copilot CLI", program: "copilot", strict: true, ownFile: true, version: 1,
			location: location{"COPILOT_HOME", "~/.copilot", []string{"hooks/tandem.json"}, ""},
			events: []hookEvent{
				{"sessionStart", "", ""}, {"userPromptSubmitted", "", "working"},
				{"notification", "permission_prompt|elicitation_dialog", "blocked"}, {"postToolUse", "", "working"},
				{"agentStop", "", "done"}, {"sessionEnd", "", "unknown"},
			},
			handler: func(command string) fields {
				return fields{{"type", "command"}, {"bash", command}, {"timeoutSec", hookTimeout}}
			},
		},
		{ // github.com/charmbracelet/crush, docs/hooks/README.md; only PreToolUse: old versions reject the names of newer events
			Name: "crush", Title: "Crush", program: "crush", strict: true,
			Note:     "they report only its conversation; its state is read from the screen",
			location: location{"XDG_CONFIG_HOME", "~/.config", []string{"crush/crush.json"}, "CRUSH_GLOBAL_CONFIG"},
			events:   []hookEvent{{"PreToolUse", "", ""}},
			handler:  func(command string) fields { return fields{{"command", command}, {"timeout", hookTimeout}} },
		},
		{ // https://cursor.com/docs/agent/hooks; no hook runs for a permission request
			Name: "cursor", Title: "Cursor CLI", program: "cursor-agent", version: 1,
			location: location{"", "~/.cursor", []string{"hooks.json"}, ""},
			events: []hookEvent{
				{"sessionStart", "", ""}, {"beforeSubmitPrompt", "", "working"}, {"postToolUse", "", "working"},
				{"stop", "", "done"}, {"sessionEnd", "", "unknown"},
			},
			handler: func(command string) fields { return fields{{"command", command}, {"timeout", hookTimeout}} },
		},
		{ // github.com/google-gemini/gemini-cli, docs/hooks/reference.md; timeouts are in milliseconds
			Name: "gemini", Title: "Gemini CLI", program: "gemini",
			location: location{"", "~/.gemini", []string{"settings.json"}, ""},
			events: []hookEvent{
				{"SessionStart", "", "idle"}, {"BeforeAgent", "", "working"}, {"Notification", "ToolPermission", "blocked"},
				{"AfterTool", "", "working"}, {"AfterAgent", "", "done"}, {"SessionEnd", "", "unknown"},
			},
			handler: func(command string) fields {
				return fields{{"name", serverName}, {"type", "command"}, {"command", command}, {"timeout", 1000 * hookTimeout}}
			},
			grouped: true,
		},
		{ // https://opencode.ai/docs/plugins; properties of events: github.com/sst/opencode, packages/opencode/src
			Name: "opencode", Title: "opencode", program: "opencode", ownFile: true, plugin: opencodePlugin,
			location: location{"XDG_CONFIG_HOME", "~/.config", []string{"opencode/plugins/tandem.js"}, ""},
		},
	}
}

// HookNames returns the names of the agents with hooks.
func HookNames() (names []string) {
	for _, h := range AllHooks() {
		names = append(names, h.Name)
	}
	return names
}

// FindHooks returns the hooks of the agent with a name; ok is false if there are none.
func FindHooks(name string) (h Hooks, ok bool) {
	for _, h := range AllHooks() {
		if h.Name == name {
			return h, true
		}
	}
	return Hooks{}, false
}

// hookMarker is part of every command written by Tandem and identifies it in settings.
const hookMarker = " agent report --hook"

// hookCommand returns the shell command of a hook. Outside Tandem it starts nothing. It always succeeds,
// even if Tandem is missing or fails, because a failing hook can make an agent reject the user's prompt.
func hookCommand(program, state string) string {
	line := shell.Quote(program) + hookMarker
	if state != "" {
		line += " --state " + state
	}
	return `[ -z "$TANDEM_SESSION_ID" ] || ` + line + " || true"
}

// hookItems returns the items for the settings, one for each of h.events, in that order.
func (h Hooks) hookItems(program string) []fields {
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
