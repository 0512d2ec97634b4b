package terminal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/agent/mcp/toolkit"
)

func TestTerminalFormatsOutput(t *testing.T) {
	t.Parallel()
	f := &toolkit.Agent{Options: &toolkit.Options{}}
	format := func(in formatInput) (formatted, error) {
		answer, err := formatOutput(t.Context(), f, in)
		if err != nil {
			return formatted{}, err
		}
		return answer.Structured.(formatted), nil
	}
	rows := [][]string{{"a.txt", "活", "1"}, {"longer name"}, {"x", "y", "z", "more\n\x1b[2J"}}
	for _, c := range []struct {
		in    formatInput
		want  string
		codes []string
	}{
		{formatInput{Content: "Done", FormatType: "success"}, "\x1b[32m✅ Done\x1b[0m", []string{"32m", "0m"}},
		{formatInput{Content: "Error: Connection failed", FormatType: "error"}, "\x1b[31m❌ Error: Connection failed\x1b[0m", []string{"31m", "0m"}},
		{formatInput{Content: "Careful", FormatType: "warning"}, "\x1b[33m⚠️ Careful\x1b[0m", []string{"33m", "0m"}},
		{formatInput{Content: "Note", FormatType: "info"}, "\x1b[34mℹ️ Note\x1b[0m", []string{"34m", "0m"}},
		{formatInput{Content: "Note"}, "\x1b[34mℹ️ Note\x1b[0m", []string{"34m", "0m"}},
		{formatInput{Content: "a\x1b]0;x\a\n\tb\u009b\u202e"}, "\x1b[34mℹ️ a^[]0;x^G\n\tb\\u009b\\u202e\x1b[0m", []string{"34m", "0m"}},
		{formatInput{Content: "Files", FormatType: "table", TableHeaders: []string{"Name", "S", "N"}, TableRows: rows},
			"Files\n" +
				"\x1b[1mName        │ S  │ N │           \x1b[0m\n" +
				"────────────┼────┼───┼───────────\n" +
				"a.txt       │ 活 │ 1 │\n" +
				"longer name │    │   │\n" +
				"x           │ y  │ z │ more ^[[2J", []string{"1m", "0m"}},
		{formatInput{FormatType: "table", TableRows: [][]string{{"a", "b"}, {"cc"}}}, "a  │ b\ncc │", []string{}},
		{formatInput{Content: "only text", FormatType: "table"}, "only text", []string{}},
		{formatInput{Content: `{"b":[1,-2.50],"a":"x: \"y\"","n":null,"t":true,"e":{}}`, FormatType: "json"},
			"{\n  \x1b[34m\"b\"\x1b[0m: [\n    \x1b[33m1\x1b[0m,\n    \x1b[33m-2.50\x1b[0m\n  ],\n  \x1b[34m\"a\"\x1b[0m: \x1b[32m\"x: \\\"y\\\"\"\x1b[0m,\n" +
				"  \x1b[34m\"n\"\x1b[0m: \x1b[35mnull\x1b[0m,\n  \x1b[34m\"t\"\x1b[0m: \x1b[36mtrue\x1b[0m,\n  \x1b[34m\"e\"\x1b[0m: {}\n}",
			[]string{"34m", "0m", "33m", "32m", "35m", "36m"}},
	} {
		got, err := format(c.in)
		if c.in.FormatType == "" {
			c.in.FormatType = "info"
		}
		if diff := cmp.Diff(formatted{FormattedContent: c.want, FormatType: c.in.FormatType, OriginalContent: c.in.Content, TerminalCodes: c.codes}, got); diff != "" || err != nil {
			t.Errorf("%+v: %v\n%s", c.in, err, diff)
		}
	}
	for in, want := range map[string]string{"json": "content is not valid JSON", "fancy": `unknown format_type "fancy"`} {
		if _, err := format(formatInput{Content: "{", FormatType: in}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func FuzzFormatRemovesControlCharacters(f *testing.F) {
	f.Add("{\"a\x1b\": 1}", "json")
	f.Add("\x1b[31m", "error")
	f.Add("\"\\\"", "table")
	f.Fuzz(func(t *testing.T, content, kind string) {
		in := formatInput{Content: content, FormatType: kind, TableHeaders: []string{content, kind}, TableRows: [][]string{{content}, {}}}
		answer, err := formatOutput(t.Context(), nil, in)
		if err != nil {
			return
		}
		out := answer.Structured.(formatted)
		plain := out.FormattedContent
		for _, code := range out.TerminalCodes {
			plain = strings.ReplaceAll(plain, "\x1b["+code, "")
		}
		if strings.ContainsAny(plain, "\x00\x07\x08\r\x1b\x7f\u009b") {
			t.Errorf("%q as %s is %q", content, kind, out.FormattedContent)
		}
	})
}
