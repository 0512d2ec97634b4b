package api

import (
	"context"
	"reflect"
)

// An Effect is the most an operation may change.
type Effect string

const (
	Read        Effect = "read"
	Write       Effect = "write"
	Destructive Effect = "destructive" // stops or deletes something
)

type effectKey struct{}

// WithEffect returns a context for handling a call that has the effect e.
func WithEffect(ctx context.Context, e Effect) context.Context {
	return context.WithValue(ctx, effectKey{}, e)
}

// Changes reports whether a context belongs to a call that may change something.
func Changes(ctx context.Context) bool {
	e, _ := ctx.Value(effectKey{}).(Effect)
	return e != "" && e != Read
}

// Access decides how an operation limits agents. Package access enforces it.
type Access string

const (
	Unrestricted Access = "unrestricted" // reveals and changes nothing off limits to agents
	UserOnly     Access = "user only"    // denied to agents and to programs in their sessions and processes
	Bookkeeping  Access = "bookkeeping"  // done by the agents' server for the user; also for read-only agents
	Starting     Access = "starting"     // starts a program: in the caller's sandbox, as the caller
	OnFiles      Access = "files"        // works on files: the caller's roots, closed folders and sandbox apply
	Typing       Access = "typing"       // types: not while the user has locked the keyboard, and not out of the caller's sandbox
	Changing     Access = "changing"     // changes or stops a session or process: not while the user has locked the keyboard
	OnVariables  Access = "variables"    // changes variables: only the caller's own
	Filtered     Access = "filtered"     // reads of each session and process only what the agent may; otherwise UserOnly
)

// An Operation is one entry of the table: its name, a sentence about its purpose, the types of its
// input and output, and its row. Routes, the client, the CLI and the agents' tools are derived from
// it.
//
// Call and Run are fields because methods would be compiled again in every package that uses the
// operation.
type Operation[In, Out any] struct {
	Entry
}

// Call runs the operation on an engine. Errors are *Error, or wrap ctx.Err() after ctx is done.
// After CodeUnavailable it is unknown whether an operation that changes something was carried out.
func (o Operation[In, Out]) Call(ctx context.Context, e Engine, in In) (out Out, err error) {
	err = e.Do(ctx, o.Name, o.Effect, in, &out)
	return out, err
}

// Run is Call without the output.
func (o Operation[In, Out]) Run(ctx context.Context, e Engine, in In) error {
	return e.Do(ctx, o.Name, o.Effect, in, new(Out))
}

// A Row holds the facts needed to authorise, route and record an operation. Its functions find
// parts of the input. A function is nil if the input has no such part.
type Row[In any] struct {
	Access  Access
	Repeat  Repeat                       // only for operations with an effect; reads can always be repeated
	IDs     func(in *In) []*string       // sessions and processes, each an id, a prefix of one or a name; the first is the main one
	OtherID func(in *In) *string         // id that only routes the call: of what it starts, a request or a transfer
	Host    func(in *In) *string         // machine to call it on; "" for this one
	Adapt   func(in *In, machine string) // drops from the input what applies to another machine only
	Paths   func(in *In) []*string       // files it reads or changes, in its FileScope
	Subject func(in *In) Subject         // what it runs, reads or changes, besides IDs and Paths

	// Outlives is set if the operation is completed even if its caller disconnects meanwhile. The
	// operation may end its own caller: a shell that stops its session.
	Outlives bool
	// Several is set if the ids may name several machines. Then the handler calls them.
	Several bool
}

// NewOperation returns an operation. doc is its description, one sentence.
func NewOperation[In, Out any](name, doc string, effect Effect, row Row[In]) Operation[In, Out] {
	return Operation[In, Out]{newEntry(name, doc, effect, row, reflect.TypeFor[Out]())}
}

// newEntry erases the type of a row's input.
func newEntry[In any](name, doc string, effect Effect, row Row[In], out reflect.Type) Entry {
	e := Entry{Name: name, Doc: doc, Effect: effect, Access: row.Access, Outlives: row.Outlives, Several: row.Several, In: reflect.TypeFor[In](), Out: out, repeat: row.Repeat}
	if row.IDs != nil {
		e.ids = func(in any) []*string { return row.IDs(in.(*In)) }
	}
	if row.OtherID != nil {
		e.otherID = func(in any) *string { return row.OtherID(in.(*In)) }
	}
	if row.Host != nil {
		e.host = func(in any) *string { return row.Host(in.(*In)) }
	}
	if row.Adapt != nil {
		e.adapt = func(in any, machine string) { row.Adapt(in.(*In), machine) }
	}
	if row.Paths != nil {
		e.paths = func(in any) []*string { return row.Paths(in.(*In)) }
	}
	if row.Subject != nil {
		e.subject = func(in any) Subject { return row.Subject(in.(*In)) }
	}
	return e
}

// An Entry is an Operation without its types.
type Entry struct {
	Name   string
	Doc    string
	Effect Effect
	Access Access
	In     reflect.Type
	Out    reflect.Type

	Outlives bool // see Row
	Several  bool // see Row

	repeat  Repeat
	ids     func(in any) []*string
	otherID func(in any) *string
	host    func(in any) *string
	adapt   func(in any, machine string)
	paths   func(in any) []*string
	subject func(in any) Subject
}

// IDs returns pointers to the ids of sessions and processes in an input. The first is the main one.
// in is a pointer.
func (e Entry) IDs(in any) []*string {
	if e.ids == nil {
		return nil
	}
	return e.ids(in)
}

// RoutingIDs returns pointers to all ids in an input that may name another machine. in is a
// pointer.
func (e Entry) RoutingIDs(in any) []*string {
	ids := e.IDs(in)
	if e.otherID != nil {
		ids = append(ids, e.otherID(in))
	}
	return ids
}

// Host returns a pointer to the field of an input that names a machine. It returns nil if there is
// no such field. in is a pointer.
func (e Entry) Host(in any) *string {
	if e.host == nil {
		return nil
	}
	return e.host(in)
}

// Adapt removes parts of an input that do not apply on the machine; "" means this one. in is a
// pointer.
func (e Entry) Adapt(in any, machine string) {
	if e.adapt != nil {
		e.adapt(in, machine)
	}
}

// Subject returns what a call with this input runs, reads or changes. in is a pointer.
func (e Entry) Subject(in any) Subject {
	var s Subject
	switch {
	case e.subject != nil:
		s = e.subject(in)
	case e.paths != nil:
		s = in.(interface{ Scope() *FileScope }).Scope().about(e.paths(in))
	}
	if ids := e.IDs(in); len(ids) > 0 && s.Session == "" {
		s.Session = *ids[0]
	}
	return s
}

// Find returns the operation or stream called name.
func Find(name string) (e Entry, ok bool) {
	e, ok = entries()[name]
	return e, ok
}

// Empty is the input of an operation without parameters, or the output of one without results.
type Empty struct{}

// An Engine carries out operations. A client.Client is one.
type Engine interface {
	// Do runs an operation by name, with input in, and decodes its output into out, a pointer.
	Do(ctx context.Context, name string, effect Effect, in, out any) error
}
