package names

import (
	"errors"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestCheckRejectsUndisplayableNamesAndIDs(t *testing.T) {
	for _, name := range []string{"", "  ", "a\nb", "a\x1b[1m", "\xff", strings.Repeat("x", 65), "0123456789ab"} {
		if err := Check(name); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("checkName(%q) = %v", name, err)
		}
	}
	if err := Check(strings.Repeat("x", 300)); !strings.Contains(err.Error(), `"`+strings.Repeat("x", 40)+`…": it is longer`) {
		t.Errorf("a long name: %v", err)
	}
	for _, name := range []string{"web", "böse Namen", "日本", "0123456789", strings.Repeat("ü", 64)} {
		if err := Check(name); err != nil {
			t.Errorf("checkName(%q) = %v", name, err)
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
		"/":                         "/",
		strings.Repeat("long", 100): strings.Repeat("long", 14),
	}
	for in, want := range cases {
		if got := OfProgram([]string{in}); got != want {
			t.Errorf("OfProgram(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShellIsNamedAfterTheProgramOfItsLine(t *testing.T) {
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
