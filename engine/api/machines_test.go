package api

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

// unqualify calls Entry.Unqualify for an operation's input, given by value. Only the machines box
// and pi are known.
func unqualify(operation string, in any) (machine string, out any, err error) {
	row, _ := Find(operation)
	v := reflect.New(row.In)
	v.Elem().Set(reflect.ValueOf(in))
	machine, err = row.Unqualify(v.Interface(), func(machine string) bool { return machine == "box" || machine == "pi" })
	return machine, v.Elem().Interface(), err
}

// fillNames returns an input with the machine's name in all places that can have one. count is the
// number of these places.
func fillNames(row Entry, machine string) (in any, count int) {
	v := reflect.New(row.In)
	if list := v.Elem().FieldByName("IDs"); list.IsValid() && list.Type() == reflect.TypeFor[[]string]() {
		list.Set(reflect.ValueOf([]string{"", ""}))
	}
	if list := v.Elem().FieldByName("Items"); list.IsValid() && list.Type() == reflect.TypeFor[[]FileMove]() {
		list.Set(reflect.ValueOf([]FileMove{{To: "x"}}))
	}
	ids := row.RoutingIDs(v.Interface())
	for _, id := range ids {
		*id = OnMachine(machine, "a1")
	}
	count = len(ids)
	if row.paths != nil {
		v.Interface().(interface{ Scope() *FileScope }).Scope().Machines = true
		for _, path := range row.paths(v.Interface()) {
			*path = PathOn(machine, "/a1")
			count++
		}
	}
	if row.Access == Bookkeeping {
		return v.Elem().Interface(), count
	}
	if host := row.Host(v.Interface()); host != nil {
		*host = machine
		count++
	}
	return v.Elem().Interface(), count
}

func TestInputIsRoutedToTheMachineOfItsRow(t *testing.T) {
	routed := 0
	for _, row := range slices.Concat(Operations(), Streams()) {
		if row.Several {
			continue
		}
		in, count := fillNames(row, "box")
		before, _ := fillNames(row, "box")
		machine, out, err := unqualify(row.Name, in)
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
		if row.paths != nil {
			for _, path := range row.paths(rest.Interface()) {
				if *path != "/a1" {
					t.Errorf("%s has the path %q, want /a1", row.Name, *path)
				}
			}
		}
		if host := row.Host(rest.Interface()); host != nil && *host != "" {
			t.Errorf("%s still has the host %q", row.Name, *host)
		}
		if machine, _, err := unqualify(row.Name, reflect.Zero(row.In).Interface()); machine != "" || err != nil {
			t.Errorf("%s without names goes to %q: %v", row.Name, machine, err)
		}
	}
	if routed < 40 {
		t.Errorf("only %d operations name a session, process, file or machine", routed)
	}
}

func TestInputIsAdaptedToTheMachineItIsSentTo(t *testing.T) {
	environ := map[string]string{"A": "b"}
	for name, test := range map[string]struct {
		operation string
		in, want  any
		machine   string
	}{
		"folder of a session there":    {SessionStart.Name, SessionStartInput{ID: "box/a", CWDOf: "box/b", Environ: environ, Umask: "022"}, SessionStartInput{ID: "a", CWDOf: "b"}, "box"},
		"folder of a session here":     {SessionStart.Name, SessionStartInput{ID: "box/a", CWDOf: "b"}, SessionStartInput{ID: "a"}, "box"},
		"start here":                   {SessionStart.Name, SessionStartInput{ID: "a", CWDOf: "box/b", Environ: environ}, SessionStartInput{ID: "a", Environ: environ}, ""},
		"command there":                {Exec.Name, ExecInput{ID: "box/a", Environ: environ, Umask: "022"}, ExecInput{ID: "a"}, "box"},
		"several sessions":             {AgentWait.Name, AgentWaitInput{IDs: []string{"box/a", "box/b"}}, AgentWaitInput{IDs: []string{"a", "b"}}, "box"},
		"file there":                   {FilesMove.Name, FilesMoveInput{FileScope: FileScope{Machines: true}, Path: "/box:/a", To: "/box:/b"}, FilesMoveInput{Path: "/a", To: "/b"}, "box"},
		"file of no machine":           {FilesStat.Name, FilesPathInput{FileScope: FileScope{Machines: true}, Path: "/crate:/a"}, FilesPathInput{Path: "/crate:/a"}, ""},
		"file here":                    {FilesStat.Name, FilesPathInput{Path: "/box:/a"}, FilesPathInput{Path: "/box:/a"}, ""},
		"search of the output there":   {OutputSearch.Name, OutputSearchInput{Host: "box", Cursor: &OutputCursor{ID: "a"}}, OutputSearchInput{Cursor: &OutputCursor{ID: "a"}}, "box"},
		"request to the agents' books": {PolicyCheck.Name, PolicyCheckInput{Host: "box"}, PolicyCheckInput{Host: "box"}, ""},
	} {
		machine, in, err := unqualify(test.operation, test.in)
		if err != nil || machine != test.machine || !reflect.DeepEqual(in, test.want) {
			t.Errorf("%s: %q, %+v, %v", name, machine, in, err)
		}
	}
	for _, ids := range [][]string{{"box/a", "b"}, {"a", "box/b"}, {"box/a", "pi/b"}} {
		if _, _, err := unqualify(AgentWait.Name, AgentWaitInput{IDs: ids}); err == nil {
			t.Errorf("%v: sessions of several machines are accepted", ids)
		}
	}
}

func TestFilesOfSeveralMachinesAreRejectedWithAReason(t *testing.T) {
	in := FilesTransferInput{FileScope: FileScope{Machines: true}, Items: []FileMove{{Path: "/box:/a", To: "/b"}}}
	if _, _, err := unqualify(FilesTransfer.Name, in); !errors.Is(err, ReasonSeveralMachines) {
		t.Errorf("%v", err)
	}
	if in.Items[0].Path != "/box:/a" {
		t.Errorf("the caller's input is now %+v", in)
	}
}
