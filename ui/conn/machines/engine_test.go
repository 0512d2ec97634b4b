package machines

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// fillNames returns an input that names a machine wherever the operation's row has a name, and how
// many names there are.
func fillNames(row api.Entry, machine string) (in any, count int) {
	v := reflect.New(row.In)
	if list := v.Elem().FieldByName("IDs"); list.IsValid() && list.Type() == reflect.TypeFor[[]string]() {
		list.Set(reflect.ValueOf([]string{"", ""}))
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

// fill sets every text in a value to text, and gives each pointer and list in it one element.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text)
			}
		}
	}
}

// An idField is a field of an answer with an id that routes calls.
type idField struct{ path, value string }

// idFields returns the id fields in a value: those called ID, and those described as the id of
// a session.
func idFields(v reflect.Value, path string) (all []idField) {
	switch v.Kind() {
	case reflect.Pointer:
		return idFields(v.Elem(), path)
	case reflect.Slice:
		if v.Len() > 0 {
			return idFields(v.Index(0), path+"[]")
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			described := strings.HasPrefix(f.Tag.Get("jsonschema"), "id of the session")
			if f.Type.Kind() == reflect.String && (f.Name == "ID" || described) {
				all = append(all, idField{path + "." + f.Name, v.Field(i).String()})
			} else if f.IsExported() {
				all = append(all, idFields(v.Field(i), path+"."+f.Name)...)
			}
		}
	}
	return all
}

func TestIDsOfEveryRoutedAnswerHaveTheMachine(t *testing.T) {
	found := map[string]bool{}
	for _, row := range api.Operations() {
		if _, count := fillNames(row, "box"); count == 0 && row.Name != api.HistorySearch.Name {
			continue
		}
		out := reflect.New(row.Out)
		fill(out.Elem(), "a1")
		qualifyOutput("box", out.Interface())
		for _, f := range idFields(out.Elem(), row.Out.Name()) {
			if found[f.path] = true; f.value != "box/a1" {
				t.Errorf("%s: %s is %q", row.Name, f.path, f.value)
			}
		}
	}
	for _, path := range []string{"Process.ID", "Process.WaitsFor[].ID", "ProcessLogOutput.Process.ID", "SessionRestoreOutput.Restored[].Process.ID",
		"AgentExplainOutput.Session", "HistorySearchOutput.Rows[].Command.Process", "FileJob.ID", "Request.ID"} {
		if !found[path] {
			t.Errorf("%s is not checked", path)
		}
	}
}

func TestExitOfRemoteSessionNamesItsMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		w.own.far["box"].events <- snapshot("a1")
		synctest.Wait()
		a, err := w.WrapEngine(w.own).Attach(t.Context(), api.AttachOptions{ID: "box/a1"})
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.Receive()
		if err != nil || out.Ended == nil || out.Ended.ID != "box/a1" {
			t.Errorf("%+v, %v", out.Ended, err)
		}
	})
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
