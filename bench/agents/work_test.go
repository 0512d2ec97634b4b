package agents

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A task is work for an agent in a folder.
type task struct {
	name   string
	needs  []string          // required programs; without them the task is skipped
	quick  bool              // needs only a shell, and little time
	engine bool              // kills the process that holds the sessions while the server keeps running
	files  map[string]string // initial files of the folder
	setup  string            // script to run in the folder first
	do     func(w *taskRun)  // does the task and checks the result
}

// A taskRun is one attempt at a task.
type taskRun struct {
	driver
	dir        string
	port       int           // free when the task began
	killEngine func()        // kills the engine
	newDriver  func() driver // starts another agent
}

// styles matches escape sequences, which models ignore.
var styles = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

func matches(text, pattern string) bool {
	return regexp.MustCompile(pattern).MatchString(styles.ReplaceAllString(text, ""))
}

// wantMatch gives up unless a text has a match.
func wantMatch(text, pattern string) {
	if !matches(text, pattern) {
		giveUp("%q is not in %q", pattern, text[:min(len(text), 600)])
	}
}

// followOutput waits for a match of pattern in a program's output. If that output does not match
// all, the rest is read and must match.
func (w *taskRun) followOutput(p handle, pattern, all string) {
	if text := w.awaitOutput(p, pattern); !matches(text, all) {
		wantMatch(w.readNew(p), all)
	}
}

// fileText returns the content of a file in the folder.
func (w *taskRun) fileText(name string) string {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		giveUp("%v", err)
	}
	return string(text)
}

// runShell runs a command that is not one of the agent's calls, and returns its output.
func (w *taskRun) runShell(command string) string {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		giveUp("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// missing returns the programs needed by a task but not installed.
func (t task) missing() (names []string) {
	for _, name := range t.needs {
		if _, err := exec.LookPath(name); err != nil {
			names = append(names, name)
		}
	}
	return names
}

// attempt does a task in a new folder with new servers.
func (t task) attempt(tb testing.TB, s serverKind) (cost tally, failure error) {
	dir := tb.TempDir()
	for name, text := range t.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			why, ours := r.(stuck)
			if !ours {
				panic(r)
			}
			failure = fmt.Errorf("%s", strings.TrimSpace(string(why)))
		}
	}()
	w := &taskRun{dir: dir, port: freePort(tb)}
	if t.setup != "" {
		w.runShell(t.setup)
	}
	var all []driver
	w.newDriver = func() driver {
		all = append(all, s.start(dir))
		return all[len(all)-1]
	}
	defer func() {
		for _, h := range all {
			h.end()
		}
	}()
	w.driver = w.newDriver()
	w.killEngine = s.kill
	began := time.Now()
	t.do(w)
	cost = tally{took: time.Since(began)}
	for _, h := range all {
		cost.calls += h.cost().calls
		cost.bytes += h.cost().bytes
	}
	return cost, nil
}

func freePort(tb testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A serverKind starts one of the measured servers.
type serverKind struct {
	name  string
	start func(dir string) driver
	kill  func() // kills the process that holds the sessions; nil if that is the server
}

func contains(text, part string) bool { return strings.Contains(text, part) }

// lastLine returns the last line of a text, without empty lines and the tool's remarks in
// brackets.
func lastLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !(line[0] == '[' && line[len(line)-1] == ']' && !contains(line, ": ")) {
			last = line
		}
	}
	return last
}
