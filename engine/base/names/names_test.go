package names

import (
	"strings"
	"testing"
)

func TestCheckRejectsUndisplayableNamesAndIDs(t *testing.T) {
	for _, check := range []func(string) error{Check, CheckLabel} {
		for _, name := range []string{"", "  ", "a\nb", "a\x1b[1m", "\xff", strings.Repeat("x", 65), "0123456789ab"} {
			if err := check(name); err == nil {
				t.Errorf("check of %q: %v", name, err)
			}
		}
		if err := check(strings.Repeat("x", 300)); !strings.Contains(err.Error(), `"`+strings.Repeat("x", 40)+`…": must have at most 64 characters`) {
			t.Errorf("a long name: %v", err)
		}
		for _, name := range []string{"web", "böse Namen", "日本", "0123456789", "x-1_2.3:4", strings.Repeat("ü", 64)} {
			if err := check(name); err != nil {
				t.Errorf("check of %q: %v", name, err)
			}
		}
	}
}

// misleading maps names that earlier releases accepted to their rule, their escaped form and what
// Clean makes of them.
var misleading = map[string][3]string{
	"`touch${IFS}X`a":   {"must not contain", `\x60touch\x24{IFS}X\x60a`, "touch{IFS}Xa"},
	"$(touch X)":        {"must not contain", `\x24\x28touch X)`, "touch X)"},
	"box/one":           {"must not contain", `box\x2fone`, "box-one"},
	"-rf":               {"must not begin with -", `\x2drf`, "rf"},
	" x ":               {"must not begin or end with a blank", `\x20x\x20`, "x"},
	"mine ":             {"must not begin or end with a blank", `mine\x20`, "mine"},
	"\u3164":            {"visible", `\u3164`, ""},
	"a\u2800b":          {"visible", `a\u2800b`, "ab"},
	"a\ufe0f":           {"visible", `a\ufe0f`, "a"},
	"a\u034f\U000e0100": {"visible", `a\u034f\U000e0100`, "a"},
	"a\u00a0b":          {"visible", `a\u00a0b`, "a b"},
	"a\u115f\uffa0":     {"visible", `a\u115f\uffa0`, "a"},
}

func TestCheckRejectsMisleadingNames(t *testing.T) {
	for name, c := range misleading {
		if err := Check(name); err == nil || !strings.Contains(err.Error(), c[0]) {
			t.Errorf("check of %q: %v, want %s", name, err, c[0])
		}
		if err := CheckLabel(name); err != nil {
			t.Errorf("label %q: %v", name, err)
		}
	}
}

func TestEscapeShowsWhatCheckRejects(t *testing.T) {
	for name, c := range misleading {
		if got := Escape(name); got != c[1] || Check(got) != nil || Escape(got) != got {
			t.Errorf("%q is shown as %q (%v), want %q", name, got, Check(got), c[1])
		}
	}
	for _, name := range []string{"web", "a b", "böse-Namen", `a\x24`, "x)"} {
		if got := Escape(name); got != name {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}

func TestCleanMakesNamesValid(t *testing.T) {
	for name, c := range misleading {
		if got := Clean(name); got != c[2] || got != "" && Check(got) != nil {
			t.Errorf("%q becomes %q, want %q", name, got, c[2])
		}
	}
	for text, want := range map[string]string{
		"web": "web", "fix/login": "fix-login", "/usr/bin/x": "usr-bin-x", "a\nb": "a b", "\xffx": "x", "-- -": "", "0123456789ab": "",
		strings.Repeat("x", 55) + " y": strings.Repeat("x", 55), "日本/語": "日本-語",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestProgramNameIsAValidName(t *testing.T) {
	cases := map[string]string{
		"/bin/bash":                 "bash",
		"-bash":                     "bash",
		"a\x1b[2Jb":                 "a[2Jb",
		"\xff\xfe":                  "program",
		"deadbeef0123":              "program",
		"/":                         "program",
		"/bin/$(x)":                 "x)",
		"a\u3164":                   "a",
		strings.Repeat("long", 100): strings.Repeat("long", 14),
	}
	for in, want := range cases {
		if got := OfProgram([]string{in}); got != want {
			t.Errorf("OfProgram(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShellCommandIsNamedAfterItsMainProgram(t *testing.T) {
	for line, want := range map[string]string{
		"make test":                    "make",
		"npm run dev | tee log":        "npm",
		"cd /srv && ./bin/serve -p 80": "serve",
		"set -e\nPORT=1 exec go run .": "go",
		"A=b C='d' python3 x.py":       "python3",
		"exit 3":                       "exit",
		"sleep 5; false":               "false",
		"sleep 5":                      "sleep",
		"$CMD now":                     "bash",
		`PASS="a secret word" make`:    "bash",
		`PASS=a\ secret make`:          "bash",
		`PASS=$(a secret) make`:        "bash",
		"'a program' x":                "bash",
		"(cd x; y)":                    "bash",
		"for i in 1 2; do x; done":     "bash",
		"if make; then x; fi":          "make",
		"A='b c' d":                    "bash",
		"":                             "bash",
		"\x1b[2Jmake\x00":              "bash",
	} {
		if got := OfProgram([]string{"/bin/bash", "-c", line}); got != want {
			t.Errorf("%q is named %q, want %q", line, got, want)
		}
	}
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"sh", "-ec", "make", "x"}, "make"}, {[]string{"bash", "--norc", "-c", "make"}, "make"},
		{[]string{"bash", "-c"}, "bash"}, {[]string{"bash", "script", "-c", "make"}, "bash"}, {[]string{"gcc", "-c", "main"}, "gcc"},
	} {
		if got := OfProgram(c.argv); got != c.want {
			t.Errorf("%q is named %q, want %q", c.argv, got, c.want)
		}
	}
}

func TestPlainShellRunsNoCommandOfItsOwn(t *testing.T) {
	for line, want := range map[string]bool{
		"bash": true, "-zsh": true, "bash --norc -i": true,
		"sh -c make": false, "bash -lc make": false, "fish -cmake": false, "fish --command=make": false, "sh build.sh": false, "vi": false,
	} {
		if got := IsPlainShell(strings.Fields(line)); got != want {
			t.Errorf("IsPlainShell(%s) = %v", line, got)
		}
	}
}
