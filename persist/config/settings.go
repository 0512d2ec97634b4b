package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"tandem/keys/keymap"
	"tandem/themes"
)

// A Setting documents a key of config.toml. The default file, the settings in effect, the manual
// and error messages are generated from it.
type Setting struct {
	Key   string // with its table: "agents.sandbox"
	Want  string // description of valid values, after "want"
	Value string // default in TOML, or an example if there is no default
	None  string // behaviour without the key, if Value is an example
	Doc   string
}

// Settings returns all keys, in the order of the file.
func Settings() []Setting {
	return []Setting{
		{"theme", "a name in quotes", `"auto"`, "", "The colours. auto follows your terminal's background. A theme for the other kind of background\npaints its own. One of\n" + wrapNames(themes.Names())},
		{"theme_dark", "a name in quotes", `"dark"`, "", "What auto uses on a dark background."},
		{"theme_light", "a name in quotes", `"light"`, "", "What auto uses on a light background."},
		{"background", "true or false", `false`, "", "Paint the theme's own background and colours everywhere, behind sessions too, on terminals of 256 colours and more."},
		{"mouse", "true or false", `true`, "", "The dashboard handles the mouse; with false, your terminal does."},
		{"clipboard", "true or false", `true`, "", "The program in the focused pane, or attached to the whole terminal, may copy to your clipboard (OSC 52)."},
		{"pictures", "a name in quotes", `"auto"`, "", "How pictures are shown, in the files view and those that programs print: auto (ask the terminal), kitty, sixel, blocks (half-block characters) or off."},
		{"icons", "true or false", `false`, "", "Show icons before file names. Your terminal needs a Nerd Font."},
		{"open_with", "a list of commands in quotes", `["mpv --fs", "gimp {} &"]`, "the editor, the pager and the desktop's program", "Commands to choose from with E in the files view; {} stands for the files, which are otherwise appended."},
		{"tabs", "true or false", `true`, "", "Show the tabs of the sessions above the panes when there is more than one."},
		{"tips", "true or false", `true`, "", "Show four useful keys on a line of their own the first three times you start the dashboard."},

		{"preset", "a name in quotes", `"tandem"`, "", "Keys for people coming from another program: " + strings.Join(keymap.Presets(), ", ") + "."},
		{"prefix", "a key in quotes", `"ctrl+b"`, "", "The key before commands. Press it twice to send it to the program."},
		{"direct_keys", "true or false", `true`, "", "alt+1 … alt+4 and alt+arrows work without the prefix."},
		{"copy_keys", "a name in quotes", `"vi"`, "", "Keys in scroll and copy mode: vi or emacs."},

		{"shell", "a list of words", `["zsh", "-l"]`, "$SHELL", "What a new session runs."},
		{"shell_integration", "true or false", `true`, "", "Have shells mark their prompts and commands."},
		{"emulator", "a name in quotes", `"native"`, "", `The terminal emulator of each session; "vt10x" is an alternative grid of cells.`},
		{"scrollback", "a whole number", `10000`, "", "Lines of scrollback kept for each session."},
		{"log_limit", "a whole number", `1073741824`, "", "Bytes of output kept for each session."},
		{"process_log_limit", "a whole number", `67108864`, "", "Bytes of output kept for each process without a terminal."},

		{"attach.predict", "a name in quotes", `"auto"`, "", "Show what you type, underlined, before a session of another machine has echoed it: auto (when the way\nthere and back takes more than 40 ms), always or off."},

		{"history.ignore", "a list of regular expressions", `["^vault ", "hunter2"]`, "nothing", "Commands that match one of these stay out of the history."},

		{"attention.notify", "true or false", `true`, "", "Send desktop notifications, through your terminal, while another window has the keyboard."},
		{"attention.long_command", "a time in quotes, such as \"10s\"", `"10s"`, "", "Notify you when a command out of sight finishes after at least this long."},
		{"attention.quiet", "hours in quotes, such as \"22:00-07:00\"", `"22:00-07:00"`, "never", "Hours without notifications, of the desktop and of browsers."},

		{"agents.sandbox", "a path in quotes", `"~/agents.json"`, "no sandbox", "The sandbox for programs that agents run without a sandbox of their own."},
		{"agents.elicit", "true or false", `true`, "", "Ask you about agents' requests in the agent's own program too, if it can. Set this to false\nif you do not trust that program: it could answer for you."},
		{"agents.reap_after", "a time in quotes, such as \"24h\"", `"24h"`, "never", "Stop what a vanished agent left running after this long."},
		{"agents.resume", "a name in quotes", `"offer"`, "", "After a reboot, a coding agent's conversation in a session that starts again: offer types the\ncommand that resumes it at the prompt, without enter; run resumes it; off does neither."},

		{"fleet.hub", "an address in quotes", `"tls://hub.example.org:4222"`, "no fleet", "The address of your fleet's hub; see docs/fleet.md. `tandem join` writes this table."},
		{"fleet.authority", "a path in quotes", `"/home/me/.config/fleet/authority.pem"`, "the system's", "The certificate of the authority that signs the hub's."},
		{"fleet.machine", "a path in quotes", `"/home/me/.config/fleet/machine.creds"`, "none", "The NATS credentials of this machine."},
		{"fleet.person", "a path in quotes", `"/home/me/.config/fleet/person.creds"`, "none", "Your credentials in the fleet, as a person."},

		{"machines", "a table for each machine, as in [machines.box]", "", "", "Other machines; see docs/machines.md. Each has ssh = \"user@host\", or\ntransport = [\"docker\", \"exec\", …], and may have env, a table of variables."},

		{"keys", "a list of keys for each action", "", "", "Your own keys for actions; docs/keys.md lists all of them. A key may have a scope before it."},
	}
}

// Named reports whether a setting is a table whose keys the user chooses.
func (s Setting) Named() bool { return s.Value == "" }

// machineExample is the example for machines in the default file.
const machineExample = `[machines.box]
ssh = "me@box.example.org"
`

// keyExamples are the examples for [keys] in the default file.
const keyExamples = `"session.new" = ["c", "sessions n"] # after the prefix, and in the list of sessions
"split.beside" = ["v", "%"]
`

// wrapNames joins names into lines of a comment.
func wrapNames(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		if width+len(name) > 90 {
			b.WriteString("\n")
			width = 0
		} else if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(name)
		if i < len(names)-1 {
			b.WriteString(",")
		}
		width += len(name) + 2
	}
	return b.String() + "."
}

// settingOf returns the setting of a key.
func settingOf(key string) (Setting, bool) {
	if strings.HasPrefix(key, "keys.") {
		key = "keys"
	}
	if rest, ok := strings.CutPrefix(key, "machines."); ok {
		_, field, _ := strings.Cut(rest, ".")
		return Setting{Key: key, Want: map[string]string{"ssh": "text in quotes", "transport": "a list of words", "env": "a table of texts"}[field]}, field != ""
	}
	for _, s := range Settings() {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// valueOf returns the value of a key in TOML, or "" if it is not set.
func valueOf(c Config, key string) string {
	v := reflect.ValueOf(c)
	for name := range strings.SplitSeq(key, ".") {
		v = fieldOf(v, name)
	}
	if !v.IsValid() || v.IsZero() {
		return ""
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return inTOML(v.Interface())
}

// fieldOf returns the field of a struct with that name in the file.
func fieldOf(v reflect.Value, name string) reflect.Value {
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("toml") == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// inTOML encodes a string, number, boolean or list of strings. JSON's escapes in strings are valid
// in TOML.
func inTOML(v any) string {
	if list, ok := v.([]string); ok {
		words := make([]string, len(list))
		for i, s := range list {
			words[i] = inTOML(s)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(strings.ReplaceAll(b.String(), "\u007f", `\u007f`), "\n")
}

// Values returns all keys with their values in effect; null for a key without a value or a
// default.
func (c Config) Values() map[string]any {
	values := map[string]any{"keys": c.Keys}
	if c.Keys == nil {
		values["keys"] = map[string][]string{}
	}
	machines := map[string]map[string]any{}
	for name, m := range c.Machines {
		machines[name] = map[string]any{"ssh": m.SSH, "transport": m.Transport, "env": m.Env}
	}
	values["machines"] = machines
	for _, s := range Settings() {
		text := valueOf(c, s.Key)
		if text == "" && s.None == "" {
			text = s.Value
		}
		switch {
		case s.Named():
		case s.Key == "prefix" && len(c.Keys["prefix"]) > 0:
		case text == "":
			values[s.Key] = nil
		default:
			values[s.Key] = json.RawMessage(text)
		}
	}
	return values
}
