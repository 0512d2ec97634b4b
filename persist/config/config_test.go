package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/renameio/v2"

	"tandem/persist/config/settings"
)

func TestParseReplacesOnlyTheDefaultsOfGivenKeys(t *testing.T) {
	got, err := Parse([]byte(`
shell = ["bash", "-i"]
emulator = "vt10x"
scrollback = 5000
log_limit = 67108864
process_log_limit = 1048576
theme = "light"
theme_dark = "nord"
theme_light = "catppuccin-latte"
direct_keys = false
mouse = false
clipboard = false
icons = true
pictures = "off"
tips = false
preset = "tmux"
prefix = "ctrl+a"
copy_keys = "emacs"
shell_integration = false

[history]
ignore = ["^vault "]

[attention]
notify = false
quiet = "22:00-07:30"

[agents]
sandbox = "~/agents.json"
reap_after = "24h"

[keys]
"session.new" = ["C"]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Defaults()
	want.Theme, want.ThemeDark, want.ThemeLight, want.Icons, want.Pictures = "light", "nord", "catppuccin-latte", true, "off"
	want.Mouse, want.Clipboard, want.Tips = false, false, false
	want.Attention.Notify, want.Attention.Quiet = false, "22:00-07:30"
	want.Preset, want.Prefix, want.CopyKeys, want.DirectKeys = "tmux", "ctrl+a", "emacs", false
	want.Keys = map[string][]string{"session.new": {"C"}}
	want.Shell, want.ShellIntegration, want.Emulator = []string{"bash", "-i"}, false, "vt10x"
	want.Scrollback, want.LogLimit, want.ProcessLogLimit = 5000, 64<<20, 1<<20
	want.History.Ignore = []string{"^vault "}
	want.Agents.Sandbox, want.Agents.ReapAfter = "~/agents.json", "24h"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMistakesShowTheirPosition(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":    {"\nscrolback = 3\n", "line 2: unknown key \"scrolback\"; did you mean scrollback?"},
		"caret":          {"scrolback = 3\n", "   1 | scrolback = 3\n     | ^^^^^^^^^"},
		"dotted unknown": {"\nx.y.z = 1\n", "line 2: unknown key \"x\"\n   2 | x.y.z = 1\n     | ^^^^^"},
		"unquoted":       {"theme = tokyo-night", "text needs quotes\n   1 | theme = tokyo-night"},
		"unquoted word":  {"shell = zsh", "text needs quotes"},
		"unknown table":  {"[histori]\nignore = []", "line 1: unknown key \"histori\""},
		"type in words":  {"\n\nscrollback = \"many\"\n", "line 3: scrollback: must be a whole number\n   3 | scrollback = \"many\"\n     |              ^^^^^^"},
		"type of a key":  {"[keys]\nprefix = 3", "line 2: keys.prefix: must be a list of keys"},
		"where it is":    {"theme = \"auto\"\n\ntheme_dark = \"nrd\" # mine\n", "   3 | theme_dark = \"nrd\" # mine\n     |              ^^^^^"},
		"dotted key":     {"agents.reap_after = \"soon\"", "   1 | agents.reap_after = \"soon\"\n     |                     ^^^^^^"},
		"wide letters":   {"theme = \"日本\"", "     |         ^^^^\n"[:15]},
		"preset":         {"preset = \"vim\"", "must be one of tandem, tmux, zellij"},
		"prefix twice":   {"prefix = \"ctrl+a\"\n[keys]\nprefix = [\"ctrl+x\"]", "line 1: prefix is also in [keys]"},
		"prefix typed":   {"prefix = \"b\"", "line 1: bind prefix"},
		"no program":     {"shell = [\"\"]", "must have a program"},
		"bad pattern":    {"[history]\nignore = [\"(\"]", "line 2: ignore"},
		"all of them":    {"theme = \"x\"\nemulator = \"y\"", "line 2: unknown emulator"},
		"not TOML":       {"shell = [\n", "line"},
		"bad emulator":   {`emulator = "xterm"`, `must be one of native, vt10x`},
		"tiny log":       {"log_limit = 10", "at least 1048576"},
		"tiny logs":      {"process_log_limit = 10", "at least 65536"},
		"negative size":  {"scrollback = -1", "must be 0 or more"},
		"almost a theme": {`theme = "tokio-night"`, `unknown theme "tokio-night"; did you mean "tokyo-night"?`},
		"unknown theme":  {`theme = "solar"`, "must be one of auto, dark, light"},
		"unknown action": {"[keys]\nfly = [\"f\"]", `line 2: bind "fly"`},
		"bad duration":   {"[agents]\nreap_after = \"soon\"", "line 2: reap_after"},
		"no duration":    {"[attention]\nlong_command = \"-3s\"", "long_command = \"-3s\": must be a duration such as 10s"},
		"no hours":       {"[attention]\nquiet = \"night\"", "quiet = \"night\": must be a time range such as 22:00-07:00"},
		"relative path":  {"[agents]\nsandbox = \"agents.json\"", "line 2: sandbox"},
		"renamed action": {"[keys]\n\"session.end\" = [\"attic d\"]", "| \"session.end\""},
		"both names":     {"[keys]\n\"session.end\" = [\"X\"]\n\"session.kill\" = [\"X\"]", "line 2: session.end was renamed to session.kill"},
		"clash":          {"[keys]\n\"session.new\" = [\"d\"]\ndetach = [\"d\"]", "bind"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

func TestParseReportsAllMistakesInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"values, keys and types": {
			"theme = \"nosuch\"\nfoo = 1\nscrollback = \"many\"\nmouse = 3\npreset = \"tmux\"\n[agents]\nreap_after = 3\nsandbx = \"x\"\nsandbox = \"x\"\n" +
				"[keys]\nfly = [\"f\"]\n\"session.new\" = 3\n\"pane.zoom\" = [\"nokey+\"]\n",
			[]string{
				`line 1: unknown theme "nosuch"`, `line 2: unknown key "foo"`, "line 3: scrollback: must be a whole number", "line 4: mouse: must be true or false",
				"line 7: agents.reap_after: must be a time", `line 8: unknown key "agents.sandbx"`, `line 9: sandbox = "x"`,
				`line 11: bind "fly"`, "line 12: keys.session.new: must be a list", "line 13: bind",
			},
		},
		"on one line": {
			"agents = { sandbox = 3, reap_after = \"soon\", more = 1 }\n[[mouse]]\nx = 1\n",
			[]string{`line 1: unknown key "agents.more"`, "line 1: agents.sandbox: must be a path", "line 1: reap_after", "line 2: mouse: must be true or false"},
		},
		"tables that are none": {"agents = 3\n[theme]\nx = 1\n", []string{"line 1: agents: must be a table", "line 2: theme: must be a name"}},
		"what is no TOML": {
			"theme = dark\n\nmouse = = true\nscrollback = -1\nfoo = 1\n",
			[]string{"line 1: ", "line 3: ", "line 4: scrollback", `line 5: unknown key "foo"`},
		},
		"a list without an end": {"shell = [\n# why\nfoo = 1\ntheme = \"x\"\n", []string{"line 3: ", "in the value that begins on line 1", `line 3: unknown key "foo"`, "line 4: unknown theme"}},
		"a text without an end": {"theme = \"dark\nfoo = 1\n", []string{"line 1: ", `line 2: unknown key "foo"`}},
		"a key said twice":      {"theme = \"dark\"\nfoo = 1\ntheme = \"nord\"\nbar = 2\n", []string{`line 2: unknown key "foo"`, "line 3: ", `line 4: unknown key "bar"`}},
		"a number too large":    {"scrollback = 99999999999999999999\nfoo = 1\n", []string{"line 1: ", `line 2: unknown key "foo"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			var wrong *mistakes
			if !errors.As(err, &wrong) {
				t.Fatalf("error %v", err)
			}
			said, from := err.Error(), 0
			for _, want := range c.want {
				at := strings.Index(said[from:], want)
				if at < 0 {
					t.Fatalf("no %q in its place in\n%s", want, said)
				}
				from += at + len(want)
			}
			if told := strings.Count(said, "^\n") + 1; told != len(wrong.list) {
				t.Errorf("%d mistakes have a place, of\n%s", told, said)
			}
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("shell = [\"sh\"]\n[keys]\nprefix = [\"ctrl+a\"]\n"))
	f.Add([]byte("thme = 3\nagents = { sandbox = \"x\" }\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Parse(text); err != nil && err.Error() == "" {
			t.Error("a mistake without words")
		}
		withValue(string(text), "theme", `"dark"`)
	})
}

func TestEverySettingIsReadAndShown(t *testing.T) {
	known := map[string]bool{}
	for _, s := range settings.All() {
		known[s.Key] = true
		if s.Named() {
			continue
		}
		value := s.Default + s.Example // one of them is empty
		switch value {
		case "true":
			value = "false"
		case "false":
			value = "true"
		}
		text := s.Key + " = " + value
		c, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := s.ValueIn(c); got != value {
			t.Errorf("%s is read as %s", text, got)
		}
		if file, _, err := Effective([]byte(text)); err != nil || !strings.Contains(file, s.Key[strings.Index(s.Key, ".")+1:]+" = "+value+"\n") {
			t.Errorf("%s is shown as\n%s%v", text, file, err)
		}
	}
	for _, key := range tomlKeys(reflect.TypeFor[settings.Config](), "") {
		if !known[key] {
			t.Errorf("the key %s is not documented", key)
		}
	}
}

// tomlKeys returns the keys of a struct. The keys of a table include the table's name.
func tomlKeys(t reflect.Type, before string) (keys []string) {
	for _, f := range reflect.VisibleFields(t) {
		name := before + f.Tag.Get("toml")
		switch {
		case f.Anonymous:
		case f.Type.Kind() == reflect.Struct:
			keys = append(keys, tomlKeys(f.Type, name+".")...)
		default:
			keys = append(keys, name)
		}
	}
	return keys
}

func TestEmptyTextsAndZerosSelectTheDefaults(t *testing.T) {
	const text = "theme = \"\"\nscrollback = 0\nlog_limit = 0\npreset = \"\"\n[attention]\nlong_command = \"\"\n[agents]\nresume = \"\"\nsandbox = \"\"\n"
	c, err := Parse([]byte(text))
	if diff := cmp.Diff(settings.Defaults(), c); diff != "" || err != nil {
		t.Error(diff, err)
	}
	file, _, err := Effective([]byte(text))
	without, _, _ := Effective(nil)
	if diff := cmp.Diff(without, file); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestParseReturnsTheDefaultsAfterAMistake(t *testing.T) {
	c, err := Parse([]byte("mouse = false\ntheme = 3\n"))
	if diff := cmp.Diff(afterMistake(settings.Defaults()), c); diff != "" || err == nil {
		t.Error(diff, err)
	}
}

func TestByteOrderMarkIsSkipped(t *testing.T) {
	if c, err := Parse([]byte("\ufefftheme = \"nord\"\n")); err != nil || c.Theme != "nord" {
		t.Errorf("theme %q, %v", c.Theme, err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	path := filepath.Join(dir, "tandem", "config.toml")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("\ufefftheme = \"nord\"\nprefix = \"ctrl+a\"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepTheme("dracula"); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(); err != nil || c.Theme != "dracula" || c.Prefix != "ctrl+a" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRelativeConfigHomeCountsAsUnset(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	for home, want := range map[string]string{
		"": "/home/ada/.config/tandem/config.toml", "conf": "/home/ada/.config/tandem/config.toml", "/etc/ada": "/etc/ada/tandem/config.toml",
	} {
		t.Setenv("XDG_CONFIG_HOME", home)
		if got, err := Path(); got != want || err != nil {
			t.Errorf("%q: %s, %v; want %s", home, got, err, want)
		}
	}
}

func TestDefaultFileSetsNothing(t *testing.T) {
	c, err := Parse([]byte(Default()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(settings.Defaults(), c); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultFileIsValidWhenUncommented(t *testing.T) {
	var text strings.Builder
	for line := range strings.Lines(Default()) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(rest, " ") {
			line = rest
		}
		text.WriteString(line)
	}
	if _, err := Parse([]byte(text.String())); err != nil {
		t.Error(err)
	}
}

func TestEffectiveDecodesToTheSameConfig(t *testing.T) {
	for _, text := range []string{"", "shell = [\"a\\\"b\", \"\\u007f\"]\n[keys]\nprefix = [\"ctrl+a\"]\n[agents]\nreap_after = \"24h\""} {
		file, values, err := Effective([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, again, err := Effective([]byte(file))
		if err != nil {
			t.Errorf("%v\n%s", err, file)
		}
		if diff := cmp.Diff(values, again); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWithValueReplacesOnlyTheValue(t *testing.T) {
	for _, c := range []struct{ before, want string }{
		{"", "theme = \"nord\"\n"},
		{"# mine\ntheme=\"dark\" # calm\nmouse = true\n", "# mine\ntheme=\"nord\" # calm\nmouse = true\n"},
		{"mouse = true", "mouse = true\ntheme = \"nord\"\n"},
		{"#theme = \"auto\"\n\n[keys]\n", "#theme = \"auto\"\ntheme = \"nord\"\n\n[keys]\n"},
		{"# The theme is calm.\n[keys]\n", "# The theme is calm.\ntheme = \"nord\"\n\n[keys]\n"},
		{"#theme = 1", "#theme = 1\ntheme = \"nord\"\n"},
		{"theme_dark = \"dark\"\n", "theme_dark = \"dark\"\ntheme = \"nord\"\n"},
	} {
		if got := withValue(c.before, "theme", `"nord"`); got != c.want {
			t.Errorf("%q becomes %q, not %q", c.before, got, c.want)
		}
	}
}

func TestKeepThemeLeavesTheRestUnchanged(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	path, err := KeepTheme("nord")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("# mine\ntheme = 'nord'\nscrollback = 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepTheme("dracula"); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepPrefix("ctrl+a"); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(); err != nil || c.Prefix != "ctrl+a" {
		t.Errorf("the prefix is %q, %v", c.Prefix, err)
	}
	text, _ := os.ReadFile(path)
	if info, _ := os.Stat(path); string(text) != "# mine\ntheme = \"dracula\"\nscrollback = 5\nprefix = \"ctrl+a\"\n" || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %q, %v", text, info.Mode())
	}
	if err := os.WriteFile(path, []byte("themes = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := KeepTheme("nord"); err == nil {
		t.Error("a file with a mistake was changed")
	}
}

func TestCreateKeepsExistingFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path, err := Create()
	if text, _ := os.ReadFile(path); err != nil || string(text) != Default() {
		t.Fatalf("%v; the file is %q", err, text)
	}
	const mistaken = "themes = 3\n"
	if err := os.WriteFile(path, []byte(mistaken), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := Create(); err != nil || again != path {
		t.Errorf("%s, %v", again, err)
	}
	if text, _ := os.ReadFile(path); string(text) != mistaken {
		t.Errorf("the file is %q", text)
	}
}

func TestFollowReportsEachChange(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tandem", "config.toml")
	t.Setenv("XDG_CONFIG_HOME", dir)
	synctest.Test(t, func(t *testing.T) {
		var file File
		if _, err := file.Load(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var told []string
		news, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			file.follow(ctx, news, func() time.Duration { return pollWatched }, func(c settings.Config, err error) {
				if err != nil {
					told = append(told, Brief(err).Error())
					return
				}
				told = append(told, c.Theme)
			})
		}()
		for _, text := range []string{`theme = "nord"`, `theme = "nord"`, `theme = 3`, `theme = "dark"`} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := renameio.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			news <- struct{}{}
			time.Sleep(2 * settleTime)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * pollWatched) // nothing tells of it
		cancel()
		<-done
		want := []string{"nord", "config.toml line 1: theme: must be a name in quotes", "dark", "auto"}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTipsAreShownThreeTimesOrUntilHidden(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	for i, want := range []bool{true, true, true, false} {
		if show, _ := Tips(true, dir); show != want {
			t.Errorf("start %d shows tips: %v", i+1, show)
		}
	}
	dir = filepath.Join(t.TempDir(), "d")
	if show, _ := Tips(false, dir); show {
		t.Error("tips are shown against the configuration")
	}
	_, hide := Tips(true, dir)
	hide()
	if show, _ := Tips(true, dir); show {
		t.Error("hidden tips are shown again")
	}
}
