package scrub

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tandem/persist/store"
)

func TestStringsOfJSONAreOverwritten(t *testing.T) {
	for _, c := range [][3]string{
		{"audit.jsonl", `{"arguments":{"text":"say \"hi\" hunter2","hunter2":[1,"hunter2"]}}`, `{"arguments":{"text":"say \"hi\" xxxxxxx","hunter2":[1,"xxxxxxx"]}}`},
		{"audit.jsonl", `{"id":"hunter2","error":"a\nhunter2"}` + "\n" + `{"error":"hunter2"}`, `{"id":"hunter2","error":"a\nxxxxxxx"}` + "\n" + `{"error":"xxxxxxx"}`},
		{"env.json", `{"variables":{"A":"\u0068unter2"}}`, `{"variables":{"A":"xxxxxxxxxxxx"}}`},
		{"env.json", `{"variables":{"session":"hunter2"},"clients":{"c":{"id":"hunter2"}}}`, `{"variables":{"session":"xxxxxxx"},"clients":{"c":{"id":"xxxxxxx"}}}`},
		{"audit.jsonl", `{"process":"hunter2","arguments":{"by":"hunter2","at":[{"id":"hunter2"}]}}`, `{"process":"hunter2","arguments":{"by":"xxxxxxx","at":[{"id":"xxxxxxx"}]}}`},
		{"recent.json", `["hunter2"]`, `["xxxxxxx"]`},
		{"processes/1/record.json", `{"id":"hunter2","name":"hunter2","desired":"hunter2","env":{"a":"hunter2"},"project":{"name":"hunter2"}}`,
			`{"id":"hunter2","name":"xxxxxxx","desired":"hunter2","env":{"a":"xxxxxxx"},"project":{"name":"hunter2"}}`},
		{"x.json", `{"a":"hunter2`, `{"a":"xxxxxxx`},
		{"x.json", `}]"\`, `}]"\`},
	} {
		got := []byte(c[1])
		found, _ := newPattern(t, "", "hunter2").inJSON(got, c[0])
		overwrite(got, found)
		if string(got) != c[2] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[2])
		}
	}
}

func TestBufferInBase64IsOverwritten(t *testing.T) {
	for _, text := range []string{"hunter2", "a hunter2", "ab hunter2 c", "hunter2\n", "日hunter2日"} {
		data, _ := json.Marshal(map[string][]byte{"data": []byte(text)})
		_, found := newPattern(t, "", "hunter2").inJSON(data, "tmux/default.json")
		overwriteBase64(data, found)
		var got map[string][]byte
		if err := json.Unmarshal(data, &got); err != nil || len(got["data"]) != len(text) || strings.ContainsAny(string(got["data"]), "hunter2") {
			t.Errorf("%q: got %q (%s), %v", text, got["data"], data, err)
		}
	}
	if _, err := base64.StdEncoding.DecodeString("eHh4eA=="); err != nil {
		t.Error(err)
	}
}

// Each string in a record is text, or one that Tandem reads. A new field must be added to one of the
// lists.
func TestEachStringOfARecordIsClassified(t *testing.T) {
	read := strings.Fields("schema id kind actor from keyboard desired ended_by state umask identity former boot_id start_time cgroup owner lease project " +
		"file digest agent left_agent process conversation cost source by typing policy stop_signal after condition exit_signal runs restart_id asked name")
	var visit func(v reflect.Type, path []string)
	visit = func(v reflect.Type, path []string) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			visit(v.Elem(), path)
		case reflect.String:
			last := path[len(path)-1]
			isText := slices.ContainsFunc(path, func(k string) bool { return slices.Contains(textKeys(), k) }) || isName(path)
			if !isText && !slices.Contains(read, last) {
				t.Errorf("%s is in neither list", strings.Join(path, "."))
			}
		case reflect.Struct:
			if fmt.Sprint(v) == "time.Time" {
				return
			}
			for i := range v.NumField() {
				f := v.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if f.Anonymous && name == "" {
					visit(f.Type, path)
				} else if f.IsExported() && name != "-" {
					visit(f.Type, append(slices.Clone(path), name))
				}
			}
		}
	}
	visit(reflect.TypeFor[store.Record](), nil)
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":["\ud83d\ude00\u0041",{"b":"x\\"}]}`), "x|A")
	f.Fuzz(func(t *testing.T, data []byte, expression string) {
		p, err := compile(expression, nil)
		if err != nil {
			return
		}
		valid := json.Valid(data)
		found, encoded := p.inJSON(data, "tmux/x.json")
		overwrite(data, found)
		overwriteBase64(data, encoded)
		if valid && !json.Valid(data) {
			t.Errorf("no longer JSON: %q", data)
		}
	})
}
