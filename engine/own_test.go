package engine

import (
	"errors"
	"testing"

	"tandem/engine/api"
)

func TestOnlyAgentsBecomeOwners(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	agent := m.agent("owner1").client
	in := api.ProcessStartInput{Command: []string{"sleep", "1000"}, Name: "mine", Actor: "person"}
	mine, err := api.ProcessStart.Call(t.Context(), agent, in)
	if err != nil {
		t.Fatal(err)
	}
	if mine.Owner == nil || mine.Owner.Client != "owner1" || mine.Owner.Lease != api.LeaseDetached || mine.Actor != "agent:tester/1" {
		t.Errorf("an agent's: %+v by %s", mine.Owner, mine.Actor)
	}
	in.Name = "hers"
	if hers := call(m.machine, api.ProcessStart, in); hers.Owner != nil || hers.Actor != "person" {
		t.Errorf("a person's: %+v by %s", hers.Owner, hers.Actor)
	}
	in.Name, in.Lease = "other", "rent"
	if _, err := api.ProcessStart.Call(t.Context(), agent, in); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("an unknown lease: %v", err)
	}
}
