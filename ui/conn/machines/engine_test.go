package machines

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// fillNames returns an input that names a machine wherever the operation's row has a name, and how
// many names there are.
func fillNames(row api.Entry, machine string) (in any, count int) {
	v := reflect.New(row.In)
	if wait, ok := v.Interface().(*api.AgentWaitInput); ok {
		wait.IDs = []string{"", ""}
	}
	ids := row.RoutingIDs(v.Interface())
	for _, id := range ids {
		*id = api.OnMachine(machine, "a1")
	}
	count = len(ids)
	if host := row.Host(v.Interface()); host != nil {
		*host = machine
		count++
	}
	return v.Elem().Interface(), count
}

func TestInputIsRoutedToTheMachineOfItsRow(t *testing.T) {
	routed := 0
	for _, row := range slices.Concat(api.Operations(), api.Streams()) {
		in, count := fillNames(row, "box")
		before, _ := fillNames(row, "box")
		machine, out, err := unqualifyInput(row.Name, in)
		want := ""
		if count > 0 {
			want = "box"
			routed++
		}
		if err != nil || machine != want {
			t.Errorf("%s goes to machine %q, want %q: %v", row.Name, machine, want, err)
		}
		if !reflect.DeepEqual(in, before) {
			t.Errorf("%s: the caller's input is now %+v", row.Name, in)
		}
		rest := reflect.New(row.In)
		rest.Elem().Set(reflect.ValueOf(out))
		for _, id := range row.RoutingIDs(rest.Interface()) {
			if *id != "a1" {
				t.Errorf("%s has the id %q, want a1", row.Name, *id)
			}
		}
		if host := row.Host(rest.Interface()); host != nil && *host != "" {
			t.Errorf("%s still has the host %q", row.Name, *host)
		}
		if machine, _, err := unqualifyInput(row.Name, reflect.Zero(row.In).Interface()); machine != "" || err != nil {
			t.Errorf("%s without names goes to %q: %v", row.Name, machine, err)
		}
	}
	if routed < 25 {
		t.Errorf("only %d operations name a session, process or machine", routed)
	}
}

func TestInputIsAdaptedToItsMachine(t *testing.T) {
	environ := map[string]string{"A": "b"}
	for name, test := range map[string]struct {
		operation string
		in, want  any
		machine   string
	}{
		"folder of a session there": {api.SessionStart.Name, api.SessionStartInput{ID: "box/a", CWDOf: "box/b", Environ: environ, Umask: "022"}, api.SessionStartInput{ID: "a", CWDOf: "b"}, "box"},
		"folder of a session here":  {api.SessionStart.Name, api.SessionStartInput{ID: "box/a", CWDOf: "b"}, api.SessionStartInput{ID: "a"}, "box"},
		"start here":                {api.SessionStart.Name, api.SessionStartInput{ID: "a", CWDOf: "box/b", Environ: environ}, api.SessionStartInput{ID: "a", Environ: environ}, ""},
		"command there":             {api.Exec.Name, api.ExecInput{ID: "box/a", Environ: environ, Umask: "022"}, api.ExecInput{ID: "a"}, "box"},
		"several sessions":          {api.AgentWait.Name, api.AgentWaitInput{IDs: []string{"box/a", "box/b"}}, api.AgentWaitInput{IDs: []string{"a", "b"}}, "box"},
		"unknown operation":         {"no.such", api.IDInput{ID: "box/a"}, api.IDInput{ID: "box/a"}, ""},
	} {
		machine, in, err := unqualifyInput(test.operation, test.in)
		if err != nil || machine != test.machine || !reflect.DeepEqual(in, test.want) {
			t.Errorf("%s: %q, %+v, %v", name, machine, in, err)
		}
	}
	for _, ids := range [][]string{{"box/a", "b"}, {"a", "box/b"}, {"box/a", "pi/b"}} {
		if _, _, err := unqualifyInput(api.AgentWait.Name, api.AgentWaitInput{IDs: ids}); err == nil {
			t.Errorf("%v: sessions of several machines are accepted", ids)
		}
	}
}

// The engine runs it, so that it continues without the dashboard.
func TestTransferBetweenMachinesIsLeftToTheLocalEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		var asked api.FilesTransferInput
		panestest.On(w.own.Engine, api.FilesTransferBetween, func(_ context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
			asked = in
			return api.FilesTransferOutput{Conflicts: []string{in.Items[0].To}}, nil
		})
		in := api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: "/box:/a\xff", To: "/slow:/b%"}}}
		out, err := w.WrapEngine(w.own).Transfer(t.Context(), in)
		if err != nil || len(out.Conflicts) != 1 || out.Conflicts[0] != "/slow:/b%" {
			t.Errorf("%+v, %v", out, err)
		}
		if item := asked.Items[0]; asked.Kind != in.Kind || !asked.Escaped || item.Path != "/box:/a%FF" || item.To != "/slow:/b%25" {
			t.Errorf("the engine was asked for %+v", asked)
		}
	})
}
