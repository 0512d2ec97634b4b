package approval

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
)

const (
	// maxCalls is the maximum number of calls kept. If there are more, the oldest is forgotten, and its
	// further operations are judged again.
	maxCalls = 1024
	// callLimit is how long a call is kept if its client does not end it.
	callLimit = 24 * time.Hour
)

// calls holds actions that were allowed for the whole of a call, by the policy or by the user. Each
// one covers only these operations on these subjects, in one call of one caller. The Arbiter's mu
// guards it.
type calls struct{ byKey map[callKey]*allowedCall }

// A callKey identifies a call among all callers.
type callKey struct{ from, owner, id string }

func callOf(c api.Caller) callKey { return callKey{c.Origin.From, c.Owner, c.Call} }

type allowedCall struct {
	actions []allowedAction
	started []string // sessions and processes started by it
	at      time.Time
}

// An allowedAction is an action without its texts, because they may be large.
type allowedAction struct {
	operations, tools []string
	host              string
	write             bool
	items             map[[sha256.Size]byte]bool
}

// maxActions limits the allowed actions that are kept for one call.
const maxActions = 64

// allow records that act is allowed for the rest of its call. It does nothing for an operation
// outside a call, which is allowed only once.
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
	if len(known.actions) == maxActions {
		return // it is judged again
	}
	items := make(map[[sha256.Size]byte]bool)
	for _, item := range act.items(nil) {
		items[item] = true
	}
	known.actions = append(known.actions, allowedAction{act.operations, act.tools, act.host, act.write, items})
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
	return known != nil && slices.ContainsFunc(known.actions, func(all allowedAction) bool { return all.includes(act, known.started) })
}

// addSession adds a session or process to those started by a call.
func (c *calls) addSession(key callKey, session string) {
	if known := c.find(key); known != nil {
		known.started = append(known.started, session)
	}
}

// includes reports whether everything in part has been allowed with act. part may also work on the
// sessions and processes in started, which the call has started itself.
func (act allowedAction) includes(part action, started []string) bool {
	if act.host != part.host || part.write && !act.write || !slices.Equal(act.tools, part.tools) {
		return false
	}
	for _, operation := range part.operations {
		if !slices.Contains(act.operations, operation) {
			return false
		}
	}
	return !slices.ContainsFunc(part.items(started), func(item [sha256.Size]byte) bool { return !act.items[item] })
}

// items returns a digest of each subject of an action: each command with its folder and session,
// each path, and each session unless the call itself started it.
func (act action) items(started []string) (all [][sha256.Size]byte) {
	for _, s := range act.subjects {
		if slices.Contains(started, s.Session) {
			s.Session = ""
		}
		if line := commandLine(s); line != "" {
			all = append(all, itemOf("command", line, s.CWD, s.Session))
		}
		for _, path := range s.Paths {
			all = append(all, itemOf("path", path))
		}
		if s.Session != "" {
			all = append(all, itemOf("session", s.Session))
		}
	}
	return all
}

// itemOf returns the digest of an item. A question is sent as JSON, which replaces invalid UTF-8.
func itemOf(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(string([]rune(strings.Join(parts, "\x00")))))
}
