package coding

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/persist/store"
)

// shutdownWindow is the time before an engine's last sign of life in which an agent's exit is taken
// for a part of the shutdown, so that the agent is resumed.
const shutdownWindow = 2 * time.Minute

// A Resumption is the command resuming an agent's conversation.
type Resumption struct {
	Argv []string
	CWD  string // "" if unknown or gone
}

// Resumption returns the command that resumes the conversation of the agent in a lost session. lost
// is the time at which the loss was noticed, and lastSign is the last sign of life before it. An
// agent that had left the session counts only if it exited shortly before lastSign or later. ok is
// false if there is nothing to resume.
func (l *Library) Resumption(r store.Record, lastSign, lost time.Time) (how Resumption, ok bool) {
	var left store.LeftAgent
	switch {
	case r.Agent != nil:
		left = store.LeftAgent{Name: r.Agent.Name, Conversation: r.Agent.Conversation, CWD: r.Agent.CWD}
	case r.LeftAgent != nil && !r.LeftAgent.At.Before(lastSign.Add(-shutdownWindow)) && r.LeftAgent.At.Before(lost):
		left = *r.LeftAgent
	}
	rules, _ := l.Rules()
	i := slices.IndexFunc(rules, func(rule Rule) bool { return rule.Name == left.Name })
	if i < 0 || len(rules[i].Resume) == 0 || !isConversation(left.Conversation) {
		return how, false
	}
	for _, word := range rules[i].Resume {
		how.Argv = append(how.Argv, strings.ReplaceAll(word, "{id}", left.Conversation))
	}
	if info, err := os.Stat(left.CWD); err == nil && info.IsDir() && filepath.IsAbs(left.CWD) {
		how.CWD = left.CWD
	}
	return how, true
}

// isConversation reports whether an id is safe in a command line: it comes from the agent and could
// be anything.
func isConversation(id string) bool {
	const inside = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return id != "" && len(id) <= 128 && strings.Trim(id, inside) == "" && id[0] != '-' && id[0] != '.'
}

// IsPlainStart reports whether a command starts a coding agent without arguments. Arguments must
// not be repeated when resuming.
func (l *Library) IsPlainStart(argv []string) bool {
	rules, _ := l.Rules()
	if len(argv) != 1 {
		return false
	}
	_, ok := matchProgram(rules, "", argv)
	return ok
}

// openConversation returns the conversation named by a file one of the processes has open, or "".
func openConversation(match *regexp.Regexp, pids []int) string {
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid) + "/fd"
		files, _ := os.ReadDir(dir) // fails for another user's process
		for _, f := range files {
			path, _ := os.Readlink(filepath.Join(dir, f.Name()))
			if m := match.FindStringSubmatch(path); m != nil {
				return cmp.Or(m[1:]...)
			}
		}
	}
	return ""
}
