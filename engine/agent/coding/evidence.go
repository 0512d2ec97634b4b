package coding

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
	"tandem/engine/system/proctree"
	"tandem/engine/workspace/files"
	"tandem/persist/store"
)

// Evidence is a snapshot of an agent's signs.
type Evidence struct {
	Rows     []string // of the screen
	Title    string   // of the terminal; may be ""
	Progress int      // state of OSC 9;4 plus 1; 0 if never set
	Reads    bool     // it waits for input
	File     *FileWord
}

// A FileWord is the content of an agent's own file.
type FileWord struct {
	State        api.AgentState
	Text         string
	Conversation string
}

// ApplyEvidence updates the words of an agent with new evidence.
func (r Rule) ApplyEvidence(words []store.AgentWord, e Evidence, now time.Time) []store.AgentWord {
	says := func(source string, state api.AgentState, text string, ok bool) {
		words = updateWord(words, store.AgentWord{Source: source, State: string(state), Text: text, At: now}, ok)
	}
	if e.File != nil {
		says(SourceFile, e.File.State, e.File.Text, e.File.State != "")
	}
	if state, ok := progressState(e.Progress); ok {
		says(SourceProgress, state, "", true)
	}
	if e.Title != "" {
		state, ok := r.titleState(e.Title, hasWord(words, SourceTitle))
		says(SourceTitle, state, "", ok)
	}
	// Once seen, a question is withdrawn as soon as it is gone from the screen.
	if question, ok := r.findQuestion(e.Rows); ok || hasWord(words, SourceScreen) {
		says(SourceScreen, api.AgentBlocked, question, ok)
	}
	switch {
	case r.ReadsLines && e.Reads:
		says(SourceReads, api.AgentIdle, "", true)
	case r.ReadsLines && hasWord(words, SourceReads):
		says(SourceReads, api.AgentWorking, "", true)
	}
	return words
}

func hasWord(words []store.AgentWord, source string) bool {
	for _, w := range words {
		if w.Source == source {
			return true
		}
	}
	return false
}

// progressState returns the meaning of an OSC 9;4 state: 0 means finished, 1 and 3 mean busy. Its
// errors and pauses do not say who has to act.
func progressState(told int) (state api.AgentState, ok bool) {
	switch told - 1 {
	case 0:
		return api.AgentIdle, true
	case 1, 3:
		return api.AgentWorking, true
	}
	return "", false
}

// resolvePath returns a rule's path for the agent with a process id. The agent's environment may
// move its folder.
func (r Rule) resolvePath(path, home string, pid int) string {
	if rest, ok := strings.CutPrefix(path, r.Config.Folder+"/"); ok && r.Config.Variable != "" {
		if folder := readVariable(pid, r.Config.Variable); filepath.IsAbs(folder) {
			return filepath.Join(folder, rest)
		}
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}

// readVariable returns a variable from a process's initial environment (proc(5)). It returns "" if
// it is missing or unreadable.
func readVariable(pid int, name string) string {
	all, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	for pair := range bytes.SplitSeq(all, []byte{0}) {
		if value, ok := bytes.CutPrefix(pair, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// maxFile is the maximum size read of an agent's file.
const maxFile = 256 << 10

// A fileCache holds an agent's file as last read.
type fileCache struct {
	path string
	info fs.FileInfo // nil: nothing was read
	at   time.Time
	says *FileWord
}

// minFileAge is the age at which equal times and size imply equal content (see racy-git in git's
// documentation).
const minFileAge = time.Second

// isUnchanged reports whether the file at path is the one in the cache.
func (f fileCache) isUnchanged(path string) bool {
	if f.info == nil || f.path != path || f.at.Sub(f.info.ModTime()) < minFileAge {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(now, f.info) && now.ModTime().Equal(f.info.ModTime()) && now.Size() == f.info.Size()
}

// readFile reads the file an agent keeps about itself. The agent decides where its path leads, so
// only files in tree are read. It returns nil if the file does not exist, or if it is older than the
// process and so belongs to an earlier one with the same id. last caches the previous read.
func (r Rule) readFile(tree *files.Tree, last *fileCache, home string, who store.Identity) *FileWord {
	if r.File.Path == "" || home == "" {
		return nil
	}
	path := r.resolvePath(strings.ReplaceAll(r.File.Path, "{pid}", strconv.Itoa(who.PID)), home, who.PID)
	if last.isUnchanged(path) {
		return last.says
	}
	*last = fileCache{}
	if _, err := os.Lstat(path); err != nil { // fast path: most agents have no file, and Lstat needs no confined thread
		return nil
	}
	text, info, err := tree.ReadRegular(path, maxFile)
	if err != nil || info.ModTime().Before(proctree.BornAt(who).Add(-time.Second)) {
		return nil
	}
	*last = fileCache{path: path, info: info, at: time.Now(), says: r.parseFile(text)}
	return last.says
}

// parseFile parses the content of an agent's file. It returns nil if the content is invalid, for
// example half written.
func (r Rule) parseFile(text []byte) *FileWord {
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		return nil
	}
	word := func(key string) string {
		s, _ := fields[key].(string)
		return plainLine(s)
	}
	w := &FileWord{State: r.File.States[word(r.File.Status)], Conversation: word(r.File.Conversation)}
	if w.State == api.AgentBlocked {
		w.Text = word(r.File.Text)
	}
	return w
}
