package engine

import (
	"errors"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestNamesThatCannotBeShownOrLookLikeIDsAreRefused(t *testing.T) {
	for _, name := range []string{"", "  ", "a\nb", "a\x1b[1m", "\xff", strings.Repeat("x", 65), "0123456789ab"} {
		if err := checkName(name); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("checkName(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"web", "böse Namen", "日本", "0123456789", strings.Repeat("ü", 64)} {
		if err := checkName(name); err != nil {
			t.Errorf("checkName(%q) = %v", name, err)
		}
	}
}

func TestProgramNameCanAlwaysBeShown(t *testing.T) {
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
		if got := programName([]string{in}); got != want {
			t.Errorf("programName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShellThatRunsALineIsNamedAfterItsProgram(t *testing.T) {
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
		if got := programName([]string{"/bin/bash", "-c", line}); got != want {
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
		if got := programName(c.argv); got != c.want {
			t.Errorf("%q is named %q, want %q", c.argv, got, c.want)
		}
	}
}

func TestNameIsUniqueAmongWhatHasNotEnded(t *testing.T) {
	withRig(t, func(r *rig) {
		p := r.running("a")
		free := func() string {
			name, _ := ask(r.Context(), r.c, func() string { return r.c.freeName("name-a") })
			return name
		}
		if got := free(); got != "name-a-2" {
			t.Errorf("free name %q", got)
		}
		r.exits(p, 0)
		r.drained(p)
		r.view("a")
		if got := free(); got != "name-a" {
			t.Errorf("free name %q after the end", got)
		}
	})
}

func TestFindTakesIDNameAndUniquePrefix(t *testing.T) {
	withRig(t, func(r *rig) {
		for _, id := range []string{"aa1", "aa2", "b1"} {
			r.running(id)
		}
		find := func(what string) (string, error) {
			type answer struct {
				id  string
				err error
			}
			a, _ := ask(r.Context(), r.c, func() answer {
				p, err := r.c.find(what, api.KindSession)
				if err != nil {
					return answer{err: err}
				}
				return answer{id: p.rec.ID}
			})
			return a.id, a.err
		}
		for what, want := range map[string]string{"aa1": "aa1", "b": "b1", "name-aa2": "aa2"} {
			if id, err := find(what); id != want || err != nil {
				t.Errorf("find(%q) = %q, %v", what, id, err)
			}
		}
		_, err := find("aa")
		if !errors.Is(err, api.CodeAmbiguous) || !strings.Contains(err.Error(), "aa1 (name-aa1), aa2 (name-aa2)") {
			t.Errorf("ambiguous prefix: %v", err)
		}
		for _, what := range []string{"", "zz", "\x1b[2J"} {
			if _, err := find(what); !errors.Is(err, api.CodeNotFound) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("find(%q): %v", what, err)
			}
		}
	})
}

func TestCommandIsQuotedForAShell(t *testing.T) {
	got := shellQuote([]string{"sh", "-c", "echo 'a b' $HOME", "", "x=1"})
	if want := `sh -c 'echo '\''a b'\'' $HOME' '' x=1`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
