package server

import (
	"context"
	"reflect"

	"tandem/engine/api"
	"tandem/engine/api/qualify"
)

// Machines carries out calls on other machines.
type Machines interface {
	// Knows reports whether there is a machine with this name.
	Knows(ctx context.Context, machine string) bool
	// MayReach reports whether the caller of ctx may reach other machines. If not, names in its
	// input belong to this machine.
	MayReach(ctx context.Context) bool
	// Call carries out an operation on a machine on behalf of the caller of ctx. out is a pointer.
	Call(ctx context.Context, machine, operation string, effect api.Effect, in, out any) error
}

// redirect checks whether a call's input names another machine. If so, the call will be carried out
// there, and the name is removed from the input.
func (m *Mux) redirect(ctx context.Context, c *call) error {
	if m.Machines == nil || c.output == nil || !m.Machines.MayReach(ctx) {
		return nil
	}
	machine, err := c.Unqualify(c.in, func(machine string) bool { return m.Machines.Knows(ctx, machine) })
	if err != nil || machine == "" {
		return err
	}
	c.away = true
	c.handle = func(ctx context.Context) (any, error) {
		out := c.output()
		err := m.Machines.Call(ctx, machine, c.Name, c.effect, reflect.ValueOf(c.in).Elem().Interface(), out)
		if err == nil {
			qualify.Output(machine, out)
		}
		return out, err
	}
	return nil
}
