package approval

import (
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

const (
	// maxCalls is the maximum number of calls kept. The oldest is forgotten, and judged again.
	maxCalls = 1024
	// callLimit is how long a call is kept if its client does not end it.
	callLimit = 24 * time.Hour
)

// calls holds the actions that the policy or the user has allowed to calls of several operations:
// exact operations on exact subjects, for one call of one caller. The Arbiter's mu guards it.
type calls struct{ byKey map[callKey]*allowedCall }

// A callKey identifies a call among all callers.
type callKey struct{ from, owner, id string }

func callOf(c server.Caller) callKey { return callKey{c.Origin.From, c.Owner, c.Call} }

type allowedCall struct {
	actions []action
	at      time.Time
}

// allow records an allowed action. An operation without a call is allowed this once.
func (c *calls) allow(act action) {
	if act.caller.Call == "" {
		return
	}
	key := callOf(act.caller)
	if c.byKey == nil {
		c.byKey = make(map[callKey]*allowedCall)
	}
	known := c.byKey[key]
	if known == nil {
		c.makeRoom()
		known = &allowedCall{at: time.Now()}
		c.byKey[key] = known
	}
	known.actions = append(known.actions, act)
}

// makeRoom forgets the oldest call if there are too many.
func (c *calls) makeRoom() {
	if len(c.byKey) < maxCalls {
		return
	}
	var oldest callKey
	for key, known := range c.byKey {
		if first := c.byKey[oldest]; first == nil || known.at.Before(first.at) {
			oldest = key
		}
	}
	delete(c.byKey, oldest)
}

// find returns a call; nil if it is unknown or was allowed too long ago.
func (c *calls) find(key callKey) *allowedCall {
	known := c.byKey[key]
	if known == nil || key.id == "" || time.Since(known.at) > callLimit {
		return nil
	}
	return known
}

// covers reports whether an action was allowed with its call.
func (c *calls) covers(act action) bool {
	known := c.find(callOf(act.caller))
	return known != nil && slices.ContainsFunc(known.actions, func(all action) bool { return all.includes(act) })
}

// addSession adds a session or process to the subjects of a call.
func (c *calls) addSession(key callKey, session string) {
	if known := c.find(key); known != nil {
		for i := range known.actions {
			known.actions[i].subjects = append(slices.Clip(known.actions[i].subjects), api.Subject{Session: session})
		}
	}
}

// includes reports whether an allowed action allows part of it.
func (act action) includes(part action) bool {
	if act.host != part.host || part.write && !act.write || !slices.Equal(act.tools, part.tools) {
		return false
	}
	for _, operation := range part.operations {
		if !slices.Contains(act.operations, operation) {
			return false
		}
	}
	known := act.items()
	return !slices.ContainsFunc(part.items(), func(item string) bool { return !slices.Contains(known, item) })
}

// items returns the single things that an action is about: each command with its folder, each path
// and each session.
func (act action) items() (all []string) {
	// A question is sent as JSON, which replaces invalid UTF-8.
	add := func(kind string, parts ...string) {
		all = append(all, string([]rune(kind+"\x00"+strings.Join(parts, "\x00"))))
	}
	for _, s := range act.subjects {
		if line := commandLine(s); line != "" {
			add("command", line, s.CWD)
		}
		for _, path := range s.Paths {
			add("path", path)
		}
		if s.Session != "" {
			add("session", s.Session)
		}
	}
	return all
}
