package keymap

import (
	"unicode/utf8"

	"tandem/keys"
)

// OutcomeKind says what became of a key.
type OutcomeKind uint8

const (
	Unbound OutcomeKind = iota // means nothing here: in a terminal it goes to the program
	Bound                      // Action is to be done
	Pending                    // the prefix waits for the next key
	Dropped                    // nothing is to be done, and the program gets nothing
)

// An Outcome is a Resolver's answer.
type Outcome struct {
	Kind   OutcomeKind
	Action Action // for Bound
	Scope  Scope  // for Bound: where the key was found
}

// A Resolver turns keys into actions. It is for one goroutine.
type Resolver struct {
	bindings Bindings
	pending  bool
}

// NewResolver returns a resolver that waits for no second key.
func NewResolver(b Bindings) *Resolver { return &Resolver{bindings: b} }

// Pending reports whether the prefix was pressed and waits for a key.
func (r *Resolver) Pending() bool { return r.pending }

// Cancel forgets a prefix that waits.
func (r *Resolver) Cancel() { r.pending = false }

// Resolve answers for a key in scopes, from the focused pane outward. The
// prefix counts where the scopes include the global one. After it, a key that
// is bound nowhere is dropped, and the prefix again is Unbound, so that it goes
// to the program.
func (r *Resolver) Resolve(k keys.Key, scopes ...Scope) Outcome {
	if r.pending {
		return r.afterPrefix(k)
	}
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

// BindsAny reports whether a character of text is bound in scopes.
func (r *Resolver) BindsAny(text string, scopes ...Scope) bool {
	var seen [utf8.RuneSelf]bool
	for _, c := range text {
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

func (r *Resolver) afterPrefix(k keys.Key) Outcome {
	if k.Phase == keys.Release || k.IsModifier() {
		return Outcome{Kind: Pending}
	}
	prefix := r.bindings.Is(k, ScopeGlobal, Prefix)
	if prefix && k.Phase == keys.Repeat {
		return Outcome{Kind: Pending} // the prefix is still held down
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
