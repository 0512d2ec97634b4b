package mcp

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/tests/needs"
)

// collectHints returns the hint texts in the code below a folder by position.
func collectHints(t *testing.T, folder string) map[string]string {
	t.Helper()
	hints := map[string]string{}
	files := gotoken.NewFileSet()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "WithHint" && method.Sel.Name != "hint" {
				return true
			}
			text := ""
			for _, arg := range call.Args {
				ast.Inspect(arg, func(n ast.Node) bool {
					if l, ok := n.(*ast.BasicLit); ok && l.Kind == gotoken.STRING {
						s, _ := strconv.Unquote(l.Value)
						text += s
					}
					return true
				})
			}
			hints[files.Position(call.Pos()).String()] = text
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hints
}

// argumentNamesOf returns the argument names of tools.
func argumentNamesOf(tools []toolkit.Tool) []string {
	var names []string
	for _, one := range tools {
		names = append(names, toolkit.FieldNames(one.In)...)
	}
	return names
}

var (
	// toolNames matches words looking like tool names, and argumentNames words looking like
	// argument names.
	toolNames     = regexp.MustCompile(`\b(?:t_)?(?:session|process)_[a-z_]+\b`)
	argumentNames = regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+[A-Z][A-Za-z]*\b`)
	// given matches a list of arguments to give or leave out.
	given = regexp.MustCompile(`\b(?:give|omit|leave|set) ((?:[a-z_]+, )*[a-z_]+(?: (?:or|and) [a-z_]+)?)`)
)

func TestHintsNameOnlyOfferedTools(t *testing.T) {
	t.Parallel()
	hints := collectHints(t, "../..")
	if len(hints) < 80 {
		t.Fatalf("only %d hints were found", len(hints))
	}
	for _, profile := range toolkit.Profiles() {
		for _, prefix := range []string{"", "t_"} {
			o := toolkit.Options{Profiles: []toolkit.Profile{profile}, ToolPrefix: prefix}
			s := newServer(t.Context(), o)
			for where, hint := range hints {
				said := s.rewriteHint(hint)
				for _, word := range toolNames.FindAllString(said, -1) {
					if !s.names[word] {
						t.Errorf("%s: %s speaks of %s: %s", where, profile, word, said)
					}
				}
				if strings.Contains(said, "tandem ls") || strings.Contains(said, "`tandem") && strings.Contains(where, "service") {
					t.Errorf("%s: %s has a command: %s", where, profile, said)
				}
			}
		}
	}
}

// otherWords are words looking like arguments: members of results and values, and parts of an
// argument.
var otherWords = []string{"next_cursor", "from_line", "completed_successfully", "denyRead", "allowWrite", "denyWrite", "allowedDomains", "deniedDomains", "replaceAll"}

func TestHintsNameOnlyExistingArguments(t *testing.T) {
	t.Parallel()
	folders := map[string][]toolkit.Profile{"..": {toolkit.All}}
	for _, p := range []toolkit.Profile{toolkit.Android, toolkit.Core, toolkit.Native, toolkit.Plugin, toolkit.Terminal} {
		folders["profiles/"+string(p)] = []toolkit.Profile{p}
	}
	for folder, profiles := range folders {
		tools := selectTools(toolkit.Options{Profiles: profiles})
		arguments := slices.Concat(argumentNamesOf(tools), otherWords)
		for where, hint := range collectHints(t, folder) {
			hint = toolkit.HintForAgents(hint)
			for _, word := range argumentNames.FindAllString(hint, -1) {
				is := func(one toolkit.Tool) bool { return one.Name == word }
				if !slices.Contains(arguments, word) && !slices.ContainsFunc(tools, is) {
					t.Errorf("%s speaks of %s: %s", where, word, hint)
				}
			}
		}
	}
	for _, p := range toolkit.Profiles() {
		tools := selectTools(toolkit.Options{Profiles: []toolkit.Profile{p}})
		texts := map[string]string{"instructions": instructions("", tools)}
		for _, one := range tools {
			texts[one.Name] = one.Doc + " " + string(toolkit.InputSchema(one.In))
		}
		arguments := slices.Concat(argumentNamesOf(tools), otherWords)
		for where, text := range texts {
			for _, word := range toolNames.FindAllString(text, -1) {
				is := func(one toolkit.Tool) bool { return one.Name == word }
				if !slices.ContainsFunc(tools, is) && !slices.Contains(arguments, word) {
					t.Errorf("%s: %s speaks of %s", p, where, word)
				}
			}
		}
		for _, word := range argumentNames.FindAllString(texts["instructions"], -1) {
			is := func(one toolkit.Tool) bool { return one.Name == word }
			if !slices.Contains(arguments, word) && !slices.ContainsFunc(tools, is) {
				t.Errorf("%s: the instructions speak of %s", p, word)
			}
		}
	}
}

// The hints of process and session tools must suggest only arguments accepted by the tool.
func TestToolsAcceptArgumentsTheirHintsSuggest(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	_, state := r.runPastTimeout("exec sleep 600")
	r.callChecked("process_start", object{"command": "exec sleep 600", "name": "web"})
	r.callChecked("session_start", object{"command": "cat", "name": "cat"})
	told := 0
	for _, c := range []struct {
		tool string
		args object
	}{
		{"process_log", object{"id": "web", "stream": "stderr"}},
		{"process_log", object{"id": "cat", "stream": "stdout"}},
		{"process_log", object{"id": "web", "stream": "none"}},
		{"process_log", object{"id": "web", "since": 1, "tail": 1}},
		{"process_log", object{"id": "web", "since": "end"}},
		{"process_log", object{"id": "web", "tail": -1}},
		{"process_wait", object{"id": state.ID, "log": "x", "since": 3}},
		{"process_wait", object{"id": "web", "log": "x", "stream": "stderr"}},
		{"process_wait", object{"id": "web", "idle_ms": -1}},
		{"session_write", object{"id": "cat"}},
		{"session_read", object{"id": "web"}},
	} {
		answer := r.call(c.tool, c.args)
		if !answer.Failed {
			t.Errorf("%s %v: %s", c.tool, c.args, resultText(answer))
		}
		for _, one := range r.tools {
			if one.Name != c.tool {
				continue
			}
			for _, list := range given.FindAllStringSubmatch(resultText(answer), -1) {
				for _, word := range regexp.MustCompile(`[a-z_]+`).FindAllString(list[1], -1) {
					if told++; !slices.Contains(append(toolkit.FieldNames(one.In), "stream" /* accepted, not listed */, "out", "or", "and", "stdout", "stderr", "too"), word) {
						t.Errorf("%s has no argument %s: %s", c.tool, word, resultText(answer))
					}
				}
			}
		}
	}
	if told == 0 {
		t.Error("no argument is named")
	}
}

// Whatever a command leaves running is reported, listed and stopped, and only that.
func TestProcessesThatExecLeftRunningAreReportedAndStopped(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	for command, left := range map[string]int{
		"sleep 1000 & echo started":                  1,
		"setsid sleep 1000 & disown":                 1,
		"(setsid sleep 1000 &); setsid sleep 1000 &": 2,
		"mkfifo go; setsid sh -c 'sleep 1000 & echo >go; wait' & read x <go; rm go; exit 3": 2,
		"sleep 0.01 & wait":                             0,
		"echo -n 'Continue? [y/N] '; read x; echo gone": 0,
	} {
		answer := r.call("exec", object{"command": command})
		_, hint, _ := strings.Cut(resultText(answer), "[left running: pid ")
		pids, hint, _ := strings.Cut(hint, "; process_stop "+answer.Process+" stops ")
		if n := len(strings.Fields(pids)); n != left || left == 1 && hint != "it]" || left == 2 && hint != "them]" {
			t.Errorf("%s gives %q", command, resultText(answer))
		}
		list := resultText(r.call("process_list", nil))
		if strings.Contains(list, answer.Process) != (left > 0) || left > 0 && !strings.Contains(list, "left running: pid "+pids) {
			t.Errorf("after %s, process_list gives %q", command, list)
		}
		if left > 0 {
			if text := resultText(r.call("process_stop_all", nil)); !strings.HasPrefix(text, "Stopped 1 processes") {
				t.Errorf("after %s, process_stop_all gives %q", command, text)
			}
		}
		for _, pid := range strings.Split(pids, ", ") {
			if text, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && pid != "" && !strings.Contains(string(text), ") Z ") {
				t.Errorf("%s: %s is still running: %s", command, pid, text)
			}
		}
	}
}
