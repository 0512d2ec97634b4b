package engine

import (
	"errors"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/base/names"
)

func TestInvalidPatternsAreRejectedWithAReason(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p := m.start("sleep", "1000")
	long := strings.Repeat("a", names.MaxPattern+1)
	for expr, says := range map[string]string{"a(": "missing closing ): a(", "[": "missing closing ]: [", long: "longer than 64 KB"} {
		_, wait := api.SessionWait.Call(t.Context(), m.client, api.SessionWaitInput{ID: p.ID, Output: expr})
		_, log := api.ProcessLog.Call(t.Context(), m.client, api.ProcessLogInput{ID: p.ID, Grep: expr})
		_, start := api.ProcessStart.Call(t.Context(), m.client, api.ProcessStartInput{Command: []string{"true"}, Ready: &api.Readiness{Log: expr}})
		for what, err := range map[string]error{"wait": wait, "log": log, "start": start} {
			if !errors.Is(err, api.CodeInvalid) || !strings.Contains(err.Error(), says) || len(err.Error()) > 300 {
				t.Errorf("%s %.20q: %.400v", what, expr, err)
			}
		}
	}
}

func TestUnusableVariablesAreRejected(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) { c.exit(exitCode(0)) }
	big := strings.Repeat("x", (128<<10)-len("A=")-1)
	call(m.machine, api.EnvSet, api.EnvSetInput{Name: "A", Value: big})
	call(m.machine, api.Exec, api.ExecInput{Command: []string{"true"}})
	for what, call := range map[string]func() error{
		"env.set": func() error {
			_, err := api.EnvSet.Call(t.Context(), m.client, api.EnvSetInput{Name: "A", Value: big + "x"})
			return err
		},
		"exec": func() error {
			_, err := api.Exec.Call(t.Context(), m.client, api.ExecInput{Command: []string{"true"}, Env: map[string]string{"A": big + "x"}})
			return err
		},
	} {
		if err := call(); !errors.Is(err, api.CodeInvalid) || !strings.Contains(err.Error(), "longer than 128 KB") {
			t.Errorf("%s: %.300v", what, err)
		}
	}
}
