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

// A task is something that an agent is to do in a folder.
type task struct {
	name   string
	needs  []string          // programs without which it is left out
	quick  bool              // it needs nothing but a shell, and little time
	engine bool              // it kills what keeps sessions while the server goes on
	files  map[string]string // what is in the folder
	setup  string            // a script that prepares it
	do     func(w *work)     // does it, and checks that it was done
}

// A work is a task that is being done.
type work struct {
	hands
	dir  string
	port int          // free when the task began
	kill func()       // ends the engine
	twin func() hands // a second agent
}

// styles are escape sequences, which a model reads over.
var styles = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

func matches(text, pattern string) bool {
	return regexp.MustCompile(pattern).MatchString(styles.ReplaceAllString(text, ""))
}

// want gives up unless a text has a match.
func want(text, pattern string) {
	if !matches(text, pattern) {
		giveUp("%q is not in %q", pattern, text[:min(len(text), 600)])
	}
}

// follow waits for a match in what a program prints, and has all that is new
// read: at least what matches all.
func (w *work) follow(p place, pattern, all string) {
	if text := w.await(p, pattern); !matches(text, all) {
		want(w.news(p), all)
	}
}

// file is what is in a file of the folder.
func (w *work) file(name string) string {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		giveUp("%v", err)
	}
	return string(text)
}

// sh is what a command says that is no call of the agent's.
func (w *work) sh(command string) string {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		giveUp("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// missing names the programs that a task needs and that are not there.
func (t task) missing() (names []string) {
	for _, name := range t.needs {
		if _, err := exec.LookPath(name); err != nil {
			names = append(names, name)
		}
	}
	return names
}

// attempt does a task in a folder of its own, with servers of its own.
func (t task) attempt(tb testing.TB, s servers) (cost tally, failure error) {
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
	w := &work{dir: dir, port: freePort(tb)}
	if t.setup != "" {
		w.sh(t.setup)
	}
	var all []hands
	w.twin = func() hands {
		all = append(all, s.start(dir))
		return all[len(all)-1]
	}
	defer func() {
		for _, h := range all {
			h.end()
		}
	}()
	w.hands = w.twin()
	w.kill = s.kill
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

// servers start the server that is measured.
type servers struct {
	name  string
	start func(dir string) hands
	kill  func() // ends what keeps sessions; nil where the server itself does
}

func has(text, part string) bool { return strings.Contains(text, part) }

// lastLine is the last line of a text that is neither empty nor a remark of the
// tool's in brackets.
func lastLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !(line[0] == '[' && line[len(line)-1] == ']' && !has(line, ": ")) {
			last = line
		}
	}
	return last
}
