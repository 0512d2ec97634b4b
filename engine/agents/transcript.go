package agents

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/api"
)

// A transcriptRule is where an agent writes its conversation down, a line of JSON an entry,
// and which of these are its answers.
type transcriptRule struct {
	Path   string            `toml:"path"`   // {id} is the conversation's; * stands for any name
	Answer map[string]string `toml:"answer"` // fields of an answer and their values; "a.b" is a field in a field
	Text   string            `toml:"text"`   // the field with its text, or with a list of parts that have one
}

// transcript is the file of a conversation as it is on disk; nil if none is known. Nothing
// is read of it: whether the caller may is decided where files are read.
func (r Rule) transcript(home, conversation string, pid int) *api.AgentTranscript {
	if r.Transcript.Path == "" || home == "" || !isConversation(conversation) {
		return nil
	}
	pattern := r.place(strings.ReplaceAll(r.Transcript.Path, "{id}", conversation), home, pid)
	paths, _ := filepath.Glob(pattern) // the pattern of a mistaken rule matches nothing
	newest, at := "", time.Time{}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.ModTime().After(at) {
			newest, at = path, info.ModTime()
		}
	}
	if newest == "" {
		return nil
	}
	return &api.AgentTranscript{Path: newest, Answer: r.Transcript.Answer, Text: r.Transcript.Text}
}
