package toolkit

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMemberIsFoundWithoutDecodingOthers(t *testing.T) {
	for object, want := range map[string]string{
		`{"id":7}`:      "7",
		` {"id":7}`[1:]: "7",
		"{ \"a\" : [ 1 , {\"id\":2} ] ,\n\"id\" : -1.5e3\t}": "-1.5e3",
		`{"id":{"id":[]},"b":"\\\""}`:                        `{"id":[]}`,
		`{"a":"\",\"id\":1","id":"x\\"}`:                     `"x\\"`,
		`{"id":1,"id":null}`:                                 "null",
		`{"ID":1,"idx":2,"i":3}`:                             "",
		`{"a":"id"}`:                                         "",
		`{}`:                                                 "",
	} {
		if got, ok := Member([]byte(object), "id"); string(got) != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", object, got, ok, want)
		}
	}
}

// FuzzMember compares Member with a decoder.
func FuzzMember(f *testing.F) {
	f.Add([]byte(`{"a":"\\","id":[1,{"x":"]"}],"b":null}`))
	f.Add([]byte(`{"id"`))
	f.Add([]byte(`{"id":"\`))
	f.Fuzz(func(t *testing.T, object []byte) {
		if len(object) == 0 || object[0] != '{' {
			return
		}
		got, ok := Member(object, "id")
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return
		}
		if want, known := members["id"]; ok && (!known || cmp.Diff(string(want), string(got)) != "") {
			t.Errorf("%s: %q, want %q", object, got, want)
		}
	})
}
