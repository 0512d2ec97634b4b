package shell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDirectSplitsPlainLines(t *testing.T) {
	env := []string{"PATH=/bin:/usr/bin", "PWD=/"}
	for line, want := range map[string][]string{
		"true":                           {"true"},
		"  go\ttest ./... ":              {"go", "test", "./..."},
		`grep -e 'a b*' "c d"x'e' a/b:c`: {"grep", "-e", "a b*", "c dxe", "a/b:c"},
		`/bin/ls --color=never -1 ''`:    {"/bin/ls", "--color=never", "-1", ""},
		"sed 's/ü/$1/;d' x":              {"sed", "s/ü/$1/;d", "x"},
		"printenv 'a\nb'":                {"printenv", "a\nb"},
	} {
		for _, shell := range []string{"bash", "/bin/bash"} {
			if words, ok := Direct([]string{shell, "-c", line}, env, "/"); !ok || !slices.Equal(words, want) {
				t.Errorf("%q: %q, %v", line, words, ok)
			}
		}
	}
}

func TestDirectRejectsLinesForAShell(t *testing.T) {
	env := []string{"PATH=/bin:/usr/bin", "PWD=/"}
	for _, line := range []string{
		"", " ", "''", "a;b", "a&&b", "a|b", "a&", "a>b", "a <b", "a\nb", "a\\ b", "$x", "a $x", `a "$x"`, "a `b`", "a \"`b`\"", `a "\n"`,
		"a *", "a ?", "a [b]", "~", "a ~", "a b=~", "a {b,c}", "#a", "a #b", "!a", "a !b", `a "!b"`, "a ^b", "(a)", "{ a; }", "a=b", "a=b c",
		"a 'b", `a "b`, "echo a", "'echo' a", "cd /", ". a", ": a", "[ a ]", "[[ a ]]", "time a", "exec a", "test a", "exit 3", "%1", "-a", "+a",
		"./a", "../a", "a/b", "/a/../b", "/a//b", "true --help", "false x", "ü", "a ü", "a\x00", "a 'b\x00'", "coproc a", "if a", "kill 1", "pwd",
	} {
		if words, ok := Direct([]string{"bash", "-c", line}, env, "/"); ok {
			t.Errorf("%q: %q", line, words)
		}
	}
	for _, env := range [][]string{
		nil, {"PATH="}, {"PATH=/bin", "BASH_ENV=/x"}, {"PATH=/bin", "BASH_FUNC_ls%%=() { echo; }"}, {"PATH=/bin", "SHELLOPTS=noexec"},
		{"PATH=/bin", "PWD=/tmp"}, {"PATH=/bin:bin"}, {"PATH=/bin:"}, {"PATH=~/bin:/bin"}, {"PATH=/a/../bin"}, {"PATH=/bin/"},
		{"PATH=/bin", "SSH_CLIENT=1"}, {"PATH=/bin", "OLDPWD=tmp"}, {"PATH=/bin", "SHLVL=05"}, {"PATH=/bin", "IFS=/"}, {"PATH=/bin", "SHLVL=x"}, {"PATH=/bin", "SHLVL=-1"}, {"PATH=/bin", "=x"}, {"PATH=/bin", "a-b=x"},
	} {
		if words, ok := Direct([]string{"bash", "-c", "ls"}, env, "/"); ok {
			t.Errorf("%q: %q", env, words)
		}
	}
	for _, argv := range [][]string{{"zsh", "-c", "ls"}, {"sh", "-c", "ls"}, {"dash", "-c", "ls"}, {"bash", "-lc", "ls"}, {"bash", "-c", "ls", "x"}, {"ls"}, {"bash", "-x", "-c", "ls"}, nil} {
		if words, ok := Direct(argv, env, "/"); ok {
			t.Errorf("%q: %q", argv, words)
		}
	}
}

// The reference is the output of the same line under bash.
func TestProgramGetsSameArgumentsAndEnvironmentAsFromBash(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "tell")
	script := "#!/usr/bin/env -S awk -f\nBEGIN { for (i = 1; i < ARGC; i++) printf \"<%s>\\n\", ARGV[i]; for (n in ENVIRON) print n \"=\" ENVIRON[n] }\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	base := []string{"PATH=" + dir + ":/usr/bin:/bin", "PWD=" + dir, "HOME=/"}
	for i, more := range [][]string{nil, {"SHLVL=0"}, {"SHLVL=4", "_=x"}, {"OLDPWD=/"}, {"OLDPWD=/none/such"}, {"PS1=$ ", "PS2=x"}, {"GLOBIGNORE=x", "LINES=7", "BASH_MAX_TIMEOUT_MS=5"}} {
		argv, env := []string{"bash", "-c", `tell a 'b  c' "d'e"f --x=/y:z 'ü$'`}, append(slices.Clone(base), more...)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			words, ok := Direct(argv, env, dir)
			if !ok {
				t.Fatal("a shell would be needed")
			}
			want := runSorted(t, argv, env, dir)
			if got := runSorted(t, words, Environ(env, path), dir, path); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// runSorted runs a command, with its program at path if given, and returns its lines of output,
// sorted.
func runSorted(t *testing.T, argv, env []string, dir string, path ...string) []string {
	t.Helper()
	program, err := exec.LookPath(append(path, argv[0])[0])
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Cmd{Path: program, Args: argv, Env: env, Dir: dir}
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Sorted(strings.Lines(string(out)))
	return slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "AWK") })
}

func FuzzDirect(f *testing.F) {
	for _, line := range []string{"true", "a 'b' \"c\"", "a\tb", "'", "a=b", "é"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, ok := Direct([]string{"bash", "-c", line}, []string{"PATH=/bin"}, "/")
		if ok && len(strings.Join(words, " ")) > len(line) {
			t.Errorf("%q became %q", line, words)
		}
	})
}
