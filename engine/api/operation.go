package api

import (
	"context"
	"reflect"
)

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
//
// Call and Run are fields because every package that names an operation would
// compile the methods of its type again.
type Operation[In, Out any] struct {
	Entry

	// Call runs the operation on an engine. Errors are *Error, or wrap ctx's when
	// that has ended. After CodeUnavailable it is not known whether an operation
	// that writes was carried out.
	Call func(ctx context.Context, e Engine, in In) (Out, error)
	// Run is Call for its effect alone.
	Run func(ctx context.Context, e Engine, in In) error
}

// NewOperation returns an operation that can be called.
func NewOperation[In, Out any](name, doc string, effect Effect) Operation[In, Out] {
	return Operation[In, Out]{
		Entry: Entry{Name: name, Doc: doc, Effect: effect, In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out]()},
		Call: func(ctx context.Context, e Engine, in In) (out Out, err error) {
			err = e.Do(ctx, name, effect, in, &out)
			return out, err
		},
		Run: func(ctx context.Context, e Engine, in In) error {
			return e.Do(ctx, name, effect, in, new(Out))
		},
	}
}

// An Entry is an Operation without its types, for listings of the table.
type Entry struct {
	Name   string
	Doc    string
	Effect Effect
	In     reflect.Type
	Out    reflect.Type
}

// Empty is the input or output of an operation that takes or gives nothing.
type Empty struct{}

// An Engine carries out operations: a client.Client is one.
type Engine interface {
	// Do runs the operation called name and reads its output into what out points
	// to.
	Do(ctx context.Context, name string, effect Effect, in, out any) error
}
