package agents

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

// endsWithMachine is how long before a boot an agent may have ended and still count as one
// that the shutdown has ended.
const endsWithMachine = 2 * time.Minute

// A Resumption is how an agent's conversation is gone on with.
type Resumption struct {
	Argv []string
	CWD  string // "" if it is not known any more
}

// Resumption is how to go on with what a session's agent did before the machine was started
// anew; ok is false if there is nothing.
func (l *Library) Resumption(r store.Record, booted time.Time) (how Resumption, ok bool) {
	var left store.LeftAgent
	switch {
	case r.Agent != nil:
		left = store.LeftAgent{Name: r.Agent.Name, Conversation: r.Agent.Conversation, CWD: r.Agent.CWD}
	case r.LeftAgent != nil && !r.LeftAgent.At.Before(booted.Add(-endsWithMachine)) && r.LeftAgent.At.Before(booted):
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

// isConversation reports whether an id can be put into a command line: an agent has told it,
// and could have told anything.
func isConversation(id string) bool {
	const inside = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return id != "" && len(id) <= 128 && strings.Trim(id, inside) == "" && id[0] != '-' && id[0] != '.'
}

// Is reports whether a command starts a coding agent, and with nothing but its name: what
// else it was told is not to be told again.
func (l *Library) Is(argv []string) bool {
	rules, _ := l.Rules()
	if len(argv) != 1 {
		return false
	}
	_, ok := recognise(rules, "", argv)
	return ok
}

// openConversation is the conversation of an agent by the file that one of its processes
// holds open; "" if there is none.
func openConversation(match *regexp.Regexp, pids []int) string {
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid) + "/fd"
		files, _ := os.ReadDir(dir) // another user's cannot be read
		for _, f := range files {
			path, _ := os.Readlink(filepath.Join(dir, f.Name()))
			if m := match.FindStringSubmatch(path); m != nil {
				return cmp.Or(m[1:]...)
			}
		}
	}
	return ""
}
