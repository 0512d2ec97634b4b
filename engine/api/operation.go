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

// An Operation is one entry of the table: its name, a sentence on what it does, and the types of
// its input and output. Routes, the client, the CLI and the agents' tools derive from it.
//
// Call and Run are fields because methods would be compiled again in every package using the
// operation.
type Operation[In, Out any] struct {
	Entry

	// Call runs the operation on an engine. Errors are *Error, or wrap ctx.Err() after ctx is
	// done. After CodeUnavailable it is unknown whether a write operation was carried out.
	Call func(ctx context.Context, e Engine, in In) (Out, error)
	// Run is Call without the output.
	Run func(ctx context.Context, e Engine, in In) error
}

// NewOperation returns an operation with the given name and one-sentence description.
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

// Empty is the input of an operation without parameters, or the output of one without results.
type Empty struct{}

// An Engine carries out operations. A client.Client is one.
type Engine interface {
	// Do runs the operation called name with input in and decodes its output into out, a pointer.
	Do(ctx context.Context, name string, effect Effect, in, out any) error
}
