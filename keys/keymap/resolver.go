package keymap

import (
	"unicode/utf8"

	"tandem/keys"
)

// OutcomeKind is the result of resolving a key.
type OutcomeKind uint8

const (
	Unbound OutcomeKind = iota // no meaning here: in a terminal it goes to the program
	Bound                      // Action is to be performed
	Pending                    // waiting for the key after the prefix
	Dropped                    // nothing happens, and the program gets nothing
)

// An Outcome is the result of Resolver.Resolve.
type Outcome struct {
	Kind   OutcomeKind
	Action Action // for Bound
	Scope  Scope  // for Bound: the scope of the binding
}

// A Resolver maps keys to actions. It is not safe for concurrent use.
type Resolver struct {
	bindings Bindings
	pending  bool
}

// NewResolver returns a resolver not waiting for a second key.
func NewResolver(b Bindings) *Resolver { return &Resolver{bindings: b} }

// Pending reports whether the resolver waits for the key after the prefix.
func (r *Resolver) Pending() bool { return r.pending }

// Cancel cancels a pending prefix.
func (r *Resolver) Cancel() { r.pending = false }

// Resolve maps a key to an action in some scopes, given from the focused pane outward. The prefix
// is recognized if the scopes include the global one. After it, an unbound key is dropped, and the
// prefix again is Unbound, so that it goes to the program.
func (r *Resolver) Resolve(k keys.Key, scopes ...Scope) Outcome {
	if r.pending {
		return r.resolveAfterPrefix(k)
	}
	// A release has no action of its own.
	if k.Phase == keys.Release {
		return Outcome{}
	}
	for _, scope := range scopes {
		action, ok := r.bindings.find(k, scope)
		switch {
		case !ok:
		case action == Prefix:
			r.pending = true
			return Outcome{Kind: Pending}
		default:
			return Outcome{Kind: Bound, Action: action, Scope: scope}
		}
	}
	return Outcome{}
}

// BindsAny reports whether any character of text is bound in some scopes.
func (r *Resolver) BindsAny(text string, scopes ...Scope) bool {
	var seen [utf8.RuneSelf]bool
	for _, c := range text {
		// Look up each ASCII character only once, as text may be long.
		if c < utf8.RuneSelf {
			if seen[c] {
				continue
			}
			seen[c] = true
		}
		k := keys.Key{Code: keys.Code(c)}
		if c >= ' ' {
			k.Text = string(c)
		}
		for _, scope := range scopes {
			if _, ok := r.bindings.find(k, scope); ok {
				return true
			}
		}
	}
	return false
}

func (r *Resolver) resolveAfterPrefix(k keys.Key) Outcome {
	// Terminals that report releases first send the release of the prefix key.
	if k.Phase == keys.Release || k.IsModifier() {
		return Outcome{Kind: Pending}
	}
	prefix := r.bindings.Is(k, ScopeGlobal, Prefix)
	if prefix && k.Phase == keys.Repeat {
		return Outcome{Kind: Pending} // the prefix key is still held down
	}
	r.pending = false
	action, ok := r.bindings.find(k, ScopePrefix)
	switch {
	case ok:
		return Outcome{Kind: Bound, Action: action, Scope: ScopePrefix}
	case prefix:
		return Outcome{Kind: Unbound}
	}
	return Outcome{Kind: Dropped}
}
