package qualify

import (
	"reflect"
	"strings"
	"testing"

	"tandem/engine/api"
)

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

// An idField is a field of an answer with an id that routes calls, or with the path of a file.
type idField struct{ path, value string }

// idFields returns the id fields in a value: those called ID, those described as the id of
// a session, and at the top those described as an absolute path.
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
			if f.Name == "Project" || f.Name == "Transcript" {
				continue // a folder of its machine, like the process's
			}
			is := func(what string) bool { return strings.HasPrefix(f.Tag.Get("jsonschema"), what) }
			// A folder's id is for root_id.
			if f.Type.Kind() == reflect.String && (f.Name == "ID" && !is("identifies a folder") || is("id of the session") || is("absolute") && !strings.Contains(path, "[]")) {
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
		in := reflect.New(row.In)
		fill(in.Elem(), "a1")
		if len(row.RoutingIDs(in.Interface())) == 0 && !strings.HasPrefix(row.Name, "files.") && row.Name != api.ProcessList.Name || row.Several {
			continue
		}
		out := reflect.New(row.Out)
		fill(out.Elem(), "a1")
		Output("box", out.Interface())
		for _, f := range idFields(out.Elem(), row.Out.Name()) {
			if found[f.path] = true; f.value != "box/a1" && f.value != "/box:a1" {
				t.Errorf("%s: %s is %q", row.Name, f.path, f.value)
			}
		}
	}
	for _, path := range []string{"Process.ID", "Process.WaitsFor[].ID", "ProcessLogOutput.Process.ID", "SessionRestoreOutput.Restored[].Process.ID",
		"AgentExplainOutput.Session", "HistorySearchOutput.Rows[].Command.Process", "FileJob.ID", "Request.ID", "FileInfo.Path", "FilesListOutput.Path"} {
		if !found[path] {
			t.Errorf("%s is not checked", path)
		}
	}
}

// The cursor is for another call to the same machine.
func TestHitsButNotTheCursorHaveTheMachine(t *testing.T) {
	out := api.OutputSearchOutput{Hits: []api.OutputHit{{ID: "a1"}}, Cursor: &api.OutputCursor{ID: "a1"}}
	Output("box", &out)
	if out.Hits[0].ID != "box/a1" || out.Cursor.ID != "a1" {
		t.Errorf("the hit is of %q, the cursor at %q", out.Hits[0].ID, out.Cursor.ID)
	}
}
