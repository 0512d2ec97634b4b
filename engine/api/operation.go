package api

import "context"

// An Effect says what calling an operation may change.
type Effect string

const (
	Read        Effect = "read"
	Write       Effect = "write"
	Destructive Effect = "destructive" // ends or removes something
)

// An Operation is one entry of the table: a name, what it does in a sentence,
// and, as type parameters, the shapes that go in and out. Everything that
// offers operations (routes, client, CLI, agents' tools) is made from it.
type Operation[In, Out any] struct {
	Name   string
	Doc    string
	Effect Effect
}

// An Entry is an Operation without its types, for listings of the table.
type Entry struct {
	Name   string
	Doc    string
	Effect Effect
	In     any // zero value of the input
	Out    any // zero value of the output
}

func (o Operation[In, Out]) entry() Entry {
	var in In
	var out Out
	return Entry{Name: o.Name, Doc: o.Doc, Effect: o.Effect, In: in, Out: out}
}

// Empty is the input or output of an operation that takes or gives nothing.
type Empty struct{}

// An Engine carries out operations: a client.Client is one.
type Engine interface {
	// Do runs the operation called name and reads its output into what out points
	// to.
	Do(ctx context.Context, name string, effect Effect, in, out any) error
}

// Call runs an operation on an engine. Errors are *Error, or wrap ctx's when
// that has ended. After CodeUnavailable it is not known whether an operation
// that writes was carried out.
func (o Operation[In, Out]) Call(ctx context.Context, e Engine, in In) (Out, error) {
	var out Out
	err := e.Do(ctx, o.Name, o.Effect, in, &out)
	return out, err
}

// Run is Call for its effect alone.
func (o Operation[In, Out]) Run(ctx context.Context, e Engine, in In) error {
	_, err := o.Call(ctx, e, in)
	return err
}
