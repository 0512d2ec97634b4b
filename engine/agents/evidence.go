package agents

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/files"
	"tandem/engine/proctree"
	"tandem/persist/store"
)

// Evidence is what can be seen of an agent at a moment.
type Evidence struct {
	Rows     []string // of the screen
	Title    string   // of the terminal; "" if it has none
	Progress int      // state of OSC 9;4 plus 1; 0 if it has never told one
	Reads    bool     // it waits for input
	File     *FileWord
}

// A FileWord is what an agent's own file says.
type FileWord struct {
	State        api.AgentState
	Text         string
	Conversation string
}

// Observe takes in what is seen of the agent that a rule is about.
func (r Rule) Observe(words []store.AgentWord, e Evidence, now time.Time) []store.AgentWord {
	says := func(source string, state api.AgentState, text string, ok bool) {
		words = hear(words, store.AgentWord{Source: source, State: string(state), Text: text, At: now}, ok)
	}
	if e.File != nil {
		says(Filed, e.File.State, e.File.Text, e.File.State != "")
	}
	if state, ok := stateOfProgress(e.Progress); ok {
		says(Progress, state, "", true)
	}
	if e.Title != "" {
		state, ok := r.sayOfTitle(e.Title, has(words, Titled))
		says(Titled, state, "", ok)
	}
	if question, ok := r.question(e.Rows); ok || has(words, Screened) {
		says(Screened, api.AgentBlocked, question, ok)
	}
	switch {
	case r.ReadsLines && e.Reads:
		says(Reads, api.AgentIdle, "", true)
	case r.ReadsLines && has(words, Reads):
		says(Reads, api.AgentWorking, "", true)
	}
	return words
}

func has(words []store.AgentWord, source string) bool {
	for _, w := range words {
		if w.Source == source {
			return true
		}
	}
	return false
}

// stateOfProgress is what OSC 9;4 means: 0 that nothing is going on any more, 1 and 3
// that something is. Its errors and pauses say nothing of who is to act.
func stateOfProgress(told int) (state api.AgentState, ok bool) {
	switch told - 1 {
	case 0:
		return api.AgentIdle, true
	case 1, 3:
		return api.AgentWorking, true
	}
	return "", false
}

// place is a path of a rule as it is for the agent with that pid.
func (r Rule) place(path, home string, pid int) string {
	if rest, ok := strings.CutPrefix(path, r.Config.Folder+"/"); ok && r.Config.Variable != "" {
		if folder := variable(pid, r.Config.Variable); filepath.IsAbs(folder) {
			return filepath.Join(folder, rest)
		}
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}

// variable is one of the environment that a process was started with (proc(5)); "" if it
// has none, or cannot be read.
func variable(pid int, name string) string {
	all, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	for pair := range bytes.SplitSeq(all, []byte{0}) {
		if value, ok := bytes.CutPrefix(pair, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// maxFile bounds what is read of an agent's own file.
const maxFile = 256 << 10

// filed is an agent's file as it was read last.
type filed struct {
	path string
	info fs.FileInfo // nil: none was read
	at   time.Time
	says *FileWord
}

// rested is how long a file must not have changed for the same times and size to
// mean the same content (racy-git in git's documentation).
const rested = time.Second

// isStill reports whether the file at path is the one that was read.
func (f filed) isStill(path string) bool {
	if f.info == nil || f.path != path || f.at.Sub(f.info.ModTime()) < rested {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(now, f.info) && now.ModTime().Equal(f.info.ModTime()) && now.Size() == f.info.Size()
}

// readFile reads the file that an agent keeps, as far as tree lets it; nil if there is none, or
// one that was left by another process with its number. The agent decides where its path
// leads. last is what was read before, to read nothing twice.
func (r Rule) readFile(tree *files.Tree, last *filed, home string, who store.Identity) *FileWord {
	if r.File.Path == "" || home == "" {
		return nil
	}
	path := r.place(strings.ReplaceAll(r.File.Path, "{pid}", strconv.Itoa(who.PID)), home, who.PID)
	if last.isStill(path) {
		return last.says
	}
	*last = filed{}
	if _, err := os.Lstat(path); err != nil { // most have none: it takes no thread to know
		return nil
	}
	text, info, err := files.ReadRegular(tree, path, maxFile)
	if err != nil || info.ModTime().Before(proctree.BornAt(who).Add(-time.Second)) {
		return nil
	}
	*last = filed{path: path, info: info, at: time.Now(), says: r.fileSays(text)}
	return last.says
}

// fileSays is what the content of the agent's file says; nil if it cannot be read, as
// while it is being written.
func (r Rule) fileSays(text []byte) *FileWord {
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}
	word := func(key string) string {
		s, _ := fields[key].(string)
		return plain(s)
	}
	w := &FileWord{State: r.File.States[word(r.File.Status)], Conversation: word(r.File.Conversation)}
	if w.State == api.AgentBlocked {
		w.Text = word(r.File.Text)
	}
	return w
}
