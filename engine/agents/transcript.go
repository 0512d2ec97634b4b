package agents

import (
	"strings"

	"tandem/engine/api"
	"tandem/engine/files"
)

// A transcriptRule is where an agent writes its conversation down, a line of JSON an entry,
// and which of these are its answers.
type transcriptRule struct {
	Path   string            `toml:"path"`   // {id} is the conversation's; * stands for any name
	Answer map[string]string `toml:"answer"` // fields of an answer and their values; "a.b" is a field in a field
	Text   string            `toml:"text"`   // the field with its text, or with a list of parts that have one
}

// transcript is the file of a conversation as it is on disk; nil if none is known, or tree
// does not lead there. Nothing is read of it: whether the caller may is decided where files are
// read.
func (r Rule) transcript(tree *files.Tree, home, conversation string, pid int) *api.AgentTranscript {
	if r.Transcript.Path == "" || home == "" || !isConversation(conversation) {
		return nil
	}
	path := files.Newest(tree, r.place(strings.ReplaceAll(r.Transcript.Path, "{id}", conversation), home, pid))
	if path == "" {
		return nil
	}
	return &api.AgentTranscript{Path: path, Answer: r.Transcript.Answer, Text: r.Transcript.Text}
}
