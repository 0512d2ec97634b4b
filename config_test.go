package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfigReadsEveryKey(t *testing.T) {
	off := false
	got, err := parseConfig([]byte(`
shell = ["bash", "-i"]
emulator = "vt10x"
scrollback = 5000
log_limit = 67108864
process_log_limit = 1048576
theme = "light"
theme_dark = "nord"
theme_light = "catppuccin-latte"
direct_keys = false

[agents]
sandbox = "~/agents.json"
reap_after = "24h"

[keys]
prefix = ["ctrl+a"]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Shell: []string{"bash", "-i"}, Emulator: "vt10x", Scrollback: 5000, LogLimit: 64 << 20, ProcessLogLimit: 1 << 20,
		Theme: "light", ThemeDark: "nord", ThemeLight: "catppuccin-latte", DirectKeys: &off, Keys: map[string][]string{"prefix": {"ctrl+a"}},
		Agents: AgentsConfig{Sandbox: "~/agents.json", ReapAfter: "24h"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConfigMistakesAreShownWhereTheyAre(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":    {"\nscrolback = 3\n", "line 2: no such key"},
		"caret":          {"scrolback = 3\n", "~~~~"},
		"wrong type":     {"scrollback = \"many\"\n", "line 1"},
		"not TOML":       {"shell = [\n", "line"},
		"bad emulator":   {`emulator = "xterm"`, `want "native" or "vt10x"`},
		"tiny log":       {"log_limit = 10", "at least 1048576"},
		"tiny logs":      {"process_log_limit = 10", "at least 65536"},
		"negative size":  {"scrollback = -1", "want 0 or more"},
		"unknown theme":  {`theme = "solar"`, "there are dark, light"},
		"unknown action": {"[keys]\nfly = [\"f\"]", `bind "fly"`},
		"bad duration":   {"[agents]\nreap_after = \"soon\"", "[agents]: reap_after"},
		"relative path":  {"[agents]\nsandbox = \"agents.json\"", "[agents]: sandbox"},
		"clash":          {"[keys]\n\"session.new\" = [\"d\"]", "bind"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseConfig([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("shell = [\"sh\"]\n[keys]\nprefix = [\"ctrl+a\"]\n"))
	f.Fuzz(func(t *testing.T, text []byte) { parseConfig(text) })
}
