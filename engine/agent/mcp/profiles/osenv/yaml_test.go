package osenv

import (
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestYAMLKeepsOrderAndWritesLinesAsBlocks(t *testing.T) {
	t.Parallel()
	got := yamlText([]yamlField{
		{"status", "ok"}, {"none", nil}, {"daemon", true}, {"pid", 12}, {"empty", ""}, {"word", "yes"}, {"time", "2026-11-20T19:00:00Z"},
		{"command", `echo "a: b" # c`}, {"lines", "one\n\n two \n"}, {"blank", "one\n \n"}, {"open", "one\ntwo"}, {"more", "one\n\n"}, {"indented", "  one\ntwo\n"},
		{"control", "\x1b[31mred\x1b[0m\r\n\u0085"}, {"path", "/a/b c.txt"},
	})
	want := `status: ok
none: null
daemon: true
pid: 12
empty: ""
word: "yes"
time: "2026-11-20T19:00:00Z"
command: "echo \"a: b\" # c"
lines: |
  one

   two 
blank: "one\n \n"
open: |-
  one
  two
more: |+
  one

indented: "  one\ntwo\n"
control: "\x1b[31mred\x1b[0m\r\n\u0085"
path: /a/b c.txt
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestYAMLReadsBackAsItWas(t *testing.T) {
	t.Parallel()
	char := rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\n\n\t\r :#-'\"\\|>&*!%@`{}[],?ab01~.=<\u0085\u2028\ufeff\x1b\x00\u00a0")))
	seed.Check(t, func(t *rapid.T) {
		want := map[string]string{}
		fields := []yamlField{{"status", "ok"}}
		for _, key := range []string{"stdout", "stderr"} {
			want[key] = rapid.StringOf(char).Draw(t, key)
			fields = append(fields, yamlField{key, want[key]})
		}
		want["status"], want["last"] = "ok", "x"
		text := yamlText(append(fields, yamlField{"last", "x"}))
		var got map[string]string
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s\n%s", diff, text)
		}
	})
}
