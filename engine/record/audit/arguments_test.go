package audit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

// asJSON returns what a reader of the log sees.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestArgumentsAreTheFieldsOfAnInput(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	since, name := int64(7), "web"
	for _, c := range []struct {
		in   any
		want string
	}{
		{api.Empty{}, `{}`},
		{&api.IDInput{ID: "web"}, `{"id":"web"}`},
		{(*api.IDInput)(nil), `null`},
		{nil, `null`},
		{api.SessionKeyboardInput{ID: "a"}, `{"id":"a","take":false}`},
		{api.ProcessUpdateInput{ID: "a", Name: &name, LogLimit: &since}, `{"id":"a","log_limit":7,"name":"web"}`},
		{api.FilesPathInput{Path: "a", FileScope: api.FileScope{Roots: []string{"/r"}, Base: "/r"}}, `{"base":"/r","path":"a"}`},
		{api.FilesWriteInput{Path: "a", Data: make([]byte, 5000)}, `{"data":"(5000 bytes)","path":"a"}`},
		{api.FilesSetInput{Path: "a", Modified: at}, `{"modified":"2026-01-02T03:04:05Z","path":"a"}`},
		{api.FilesRestoreInput{Items: []api.FileMove{{Path: "a", To: "b"}}}, `{"items":[{"path":"a","to":"b"}]}`},
		{
			api.ExecInput{Command: []string{"make"}, Environ: map[string]string{"HOME": "/"}, Umask: "022", Actor: "agent:x"},
			`{"command":["make"]}`,
		},
		{api.ProcessRestartInput{ID: "a", RestartID: "r"}, `{"id":"a"}`},
		{api.SessionWriteInput{ID: "a", Text: "ls\n", Keys: []string{"up"}}, `{"id":"a","keys":["up"],"text":"ls\n"}`},
		{map[string]any{"n": 1.5, "list": []any{"a", nil, true}}, `{"list":["a",null,true],"n":1.5}`},
	} {
		if got := asJSON(t, new(Log).Arguments(c.in, false)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestArgumentsMaskSecrets(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{api.EnvSetInput{Name: "API_TOKEN", Value: "hush"}, `{"name":"API_TOKEN","value":"***"}`},
		{api.EnvSetInput{Name: "EDITOR", Value: "vi"}, `{"name":"EDITOR","value":"vi"}`},
		{map[string]any{"key": "API_TOKEN", "value": "hush"}, `{"key":"***","value":"***"}`},
		{
			api.ExecInput{Command: []string{"login", "--password", "hush"}, Env: map[string]string{"MY_SECRET": "hush", "A": "1"}},
			`{"command":["login","--password","***"],"env":{"A":"1","MY_SECRET":"***"}}`,
		},
		{api.SessionExecInput{ID: "a", Command: "API_TOKEN=hush make"}, `{"command":"API_TOKEN=*** make","id":"a"}`},
		{map[string]any{"env": map[string]any{"PASSWORD": map[string]any{"a": "hush"}}}, `{"env":{"PASSWORD":"***"}}`},
		{map[string]any{"command": []any{"curl -H 'Authorization: Bearer hush'"}}, `{"command":["curl -H 'Authorization: Bearer ***'"]}`},
	} {
		if got := asJSON(t, new(Log).Arguments(c.in, false)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestArgumentsHideTypedText(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{api.SessionWriteInput{ID: "a", Text: "hush", Paste: "hush", Keys: []string{"h"}}, `{"id":"a","keys":"***","paste":"***","text":"***"}`},
		{api.SessionWriteInput{ID: "a", Text: "hush"}, `{"id":"a","text":"***"}`},
		{api.SessionExecInput{ID: "a", Command: "hush"}, `{"command":"***","id":"a"}`},
		{api.ProcessWriteInput{ID: "a", Text: "hush"}, `{"id":"a","text":"***"}`},
		{api.ExecInput{Command: []string{"make"}}, `{"command":["make"]}`},
	} {
		if got := asJSON(t, new(Log).Arguments(c.in, true)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestArgumentsShortenLongValues(t *testing.T) {
	many := make([]string, 300)
	variables := map[string]string{}
	for i := range many {
		many[i] = "a"
		variables[fmt.Sprint(i)] = "a"
	}
	got := new(Log).Arguments(api.ExecInput{Command: many, Env: variables}, false)
	list := got["command"].([]string)
	if len(list) != maxItems+1 || list[maxItems] != "… (300 in all)" {
		t.Errorf("a long list ends with %q", list[len(list)-1])
	}
	if env := got["env"].(map[string]any); len(env) > maxItems+1 || env["…"] != "… (300 in all)" {
		t.Errorf("a large map has %d entries", len(env))
	}
	text := new(Log).Arguments(api.FilesWriteInput{Text: strings.Repeat("é", 8<<20)}, false)["text"].(string)
	if want := strings.Repeat("é", maxText/2) + "… (16777216 bytes)"; text != want {
		t.Errorf("a long text ends with %q", text[len(text)-40:])
	}
	edits := make([]api.FileEdit, 30)
	for i := range edits {
		edits[i].Search = strings.Repeat("x", 3000)
	}
	if size := len(asJSON(t, new(Log).Arguments(api.FilesEditInput{Edits: edits}, false))); size > maxArguments+2*maxText {
		t.Errorf("long edits take %d bytes", size)
	}
}

func TestCutTextHidesItsSecrets(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	for _, first := range []string{"", "TOKEN=" + strings.Repeat("z", 500) + " "} {
		// The second secret begins near the places where a text is cut.
		for _, at := range []int{maxText - 50, maxText - 10, maxScanned - 30, maxScanned - 4} {
			text := first + strings.Repeat("x", at-len(first)-1) + " " + token + strings.Repeat(" y", 1000)
			if got := shorten(text); strings.Contains(got, "ghp_") || strings.Contains(got, "zz") {
				t.Errorf("a secret at %d after %q: ends with %q", at, first, got[len(got)-70:])
			}
		}
	}
}

func TestArgumentsCostTheSameForAnySize(t *testing.T) {
	small := api.FilesWriteInput{Path: "a", Text: strings.Repeat("x", maxScanned)}
	large := api.FilesWriteInput{Path: "a", Text: strings.Repeat("x", 16<<20)}
	bytesOf := func(in any) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			new(Log).Arguments(in, false)
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 10
	}
	bytesOf(&small) // compiles the patterns of secrets
	if a, b := bytesOf(&small), bytesOf(&large); b > a+maxText {
		t.Errorf("%d bytes allocated for %d bytes of text, %d for %d", a, len(small.Text), b, len(large.Text))
	}
}

// fill sets everything in v to values that take as much space as possible.
func fill(v reflect.Value, text string, items, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), text, items, depth-1)
		}
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		if depth == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), items, items))
		for i := range items {
			fill(v.Index(i), text, items, depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range items {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(value, text, items, depth-1)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint(i, text)).Convert(v.Type().Key()), value)
		}
	case reflect.Struct:
		if _, ok := v.Interface().(time.Time); ok {
			v.Set(reflect.ValueOf(time.Now()))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text, items, depth)
			}
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(-1 << 63)
	case reflect.Uint64:
		v.SetUint(1<<64 - 1)
	case reflect.Float64:
		v.SetFloat(-1.2345678901234567e-300)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		v.Set(reflect.ValueOf(text))
	}
}

func TestEveryInputFitsALine(t *testing.T) {
	const maxLine = 128 << 10
	for _, o := range api.Operations() {
		for _, text := range []string{"", strings.Repeat("<", 100), strings.Repeat("\x00", 5000)} {
			for _, items := range []int{0, 30, 120} {
				in := reflect.New(o.In)
				fill(in.Elem(), text, items, 2)
				e := api.AuditEntry{Arguments: new(Log).Arguments(in.Interface(), false), Time: time.Now(), ID: api.NewID(), DurationMS: 1e300}
				for _, name := range []*string{&e.Actor, &e.Agent, &e.Client, &e.From, &e.Host, &e.Tool, &e.Call, &e.Operation, &e.Outcome, &e.Error, &e.Process} {
					*name = text
				}
				if size := len(asJSON(t, bounded(e))); size > maxLine {
					t.Errorf("%s: a line of %d bytes for %d texts of %d bytes", o.Name, size, items, len(text))
				}
			}
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add("exec", []byte(`{"command":["a","b"],"env":{"TOKEN":"x"}}`), false)
	f.Add("layout.put", []byte(`{"layout":{}}`), true)
	f.Add("files.edit", []byte(`{"path":"a","edits":[{"search":"a","replace":"\u0000"}]}`), false)
	inputs := map[string]reflect.Type{}
	for _, o := range api.Operations() {
		inputs[o.Name] = o.In
	}
	f.Fuzz(func(t *testing.T, name string, input []byte, hide bool) {
		of := inputs[name]
		if of == nil {
			of = reflect.TypeFor[map[string]any]()
		}
		in := reflect.New(of)
		if json.Unmarshal(input, in.Interface()) != nil {
			return
		}
		before := asJSON(t, in.Interface())
		if size := len(asJSON(t, new(Log).Arguments(in.Interface(), hide))); size > 100<<10 {
			t.Errorf("%d bytes", size)
		}
		if diff := cmp.Diff(before, asJSON(t, in.Interface())); diff != "" {
			t.Errorf("the input is changed: %s", diff)
		}
	})
}
