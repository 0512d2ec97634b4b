package coding

import (
	"strings"

	"tandem/engine/api"
	"tandem/engine/workspace/files"
)

// A transcriptRule says where an agent writes its conversation, one JSON entry per line, and which
// entries are its answers.
type transcriptRule struct {
	Path   string            `toml:"path"`   // {id} is the conversation's id; * matches any name
	Answer map[string]string `toml:"answer"` // fields of an answer and their values; "a.b" is b inside a
	Text   string            `toml:"text"`   // the field with the text, or with a list of parts with text
}

// findTranscript returns where the file of a conversation is, or nil if that is unknown or outside
// tree. It does not read the file; a caller who does needs access to it.
func (r Rule) findTranscript(tree *files.Tree, home, conversation string, pid int) *api.AgentTranscript {
	if r.Transcript.Path == "" || home == "" || !isConversation(conversation) {
		return nil
	}
	path := tree.Newest(r.resolvePath(strings.ReplaceAll(r.Transcript.Path, "{id}", conversation), home, pid))
	if path == "" {
		return nil
	}
	return &api.AgentTranscript{Path: path, Answer: r.Transcript.Answer, Text: r.Transcript.Text}
}
