package logview

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/panes/kit/text"
	"tandem/panes/logtext"
	"tandem/panes/panestest"
)

func TestPrettyShowsJSONLinesInColumns(t *testing.T) {
	at := time.Date(2026, 11, 23, 1, 2, 3, 4e6, time.UTC)
	clock := at.Local().Format("15:04:05.000")
	for line, want := range map[string]string{
		`{"time":"2026-11-23T01:02:03.004Z","level":"info","msg":"served","path":"/a b","n":3}`: clock + ` INFO  served                           path="/a b" n=3`,
		`{"level":50,"time":1795395723004,"msg":"bad \u001b[2J news","err":{"code":7}}`:         clock + ` ERROR bad \x1b[2J news                 err={"code":7}`,
		`{"ts":1795395723.004,"message":"only"}`:                                                clock + ` only`,
		`  {"a":"","b":null,"c":[1, 2],"d":"x=\"y\""}`:                                          `a="" b=null c=[1,2] d="x=\"y\""`,
		`{"time":"noon","time":"later","msg":1}`:                                                `noon 1                                time=later`,
		`{}`:                                                                                    `{}`,
		`{"a":1} tail`:                                                                          `{"a":1} tail`,
		`[1]`:                                                                                   `[1]`,
		`{"a":1`:                                                                                `{"a":1`,
		"plain \x1b[31mred":                                                                     "plain \x1b[31mred",
		`{"\u001b[2J":"\u0007"}`:                                                                `\x1b[2J=\a`,
	} {
		if got := prettyLine(line); got != want {
			t.Errorf("%s\n is %q\nwant %q", line, got, want)
		}
	}
}

func TestPrettyCanBeToggled(t *testing.T) {
	f, l := &fakeLog{text: "{\"level\":\"warn\",\"msg\":\"disk full\",\"free\":0}\nno JSON\n"}, New("1", "", api.KindProcess)
	panestest.CompareRows(t, f.drawLog(t, l, 60, 2), []string{`{"level":"warn","msg":"disk full","free":0}`, "no JSON"})
	l.TogglePretty()
	panestest.CompareRows(t, f.drawLog(t, l, 60, 2), []string{"WARN  disk full                        free=0", "no JSON"})
	l.TogglePretty()
	panestest.CompareRows(t, f.drawLog(t, l, 60, 2), []string{`{"level":"warn","msg":"disk full","free":0}`, "no JSON"})
}

// A control character in a line of JSON must never reach the screen.
func FuzzStructuredLinesAreSafe(f *testing.F) {
	for _, seed := range []string{`{"msg":"\u001b]0;x\u0007","\u009b":"\u202e"}`, `{"time":1e300,"level":{}}`, `{"a":"` + "\xff" + `"}`, `{"msg":"\ud800"}`, "{\"a\":\"\u009b2J\"}", "0\xf1\v"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			return
		}
		pretty := prettyLine(line)
		if _, ok := parseRecord(line); !ok && pretty != line {
			t.Fatalf("%q became %q", line, pretty)
		} else if ok && strings.IndexFunc(pretty, unicode.IsControl) >= 0 {
			t.Fatalf("%q became %q", line, pretty)
		}
		read := logtext.ReadLine(pretty, false)
		s := read.Plain()
		if !utf8.ValidString(s) || strings.IndexFunc(s, unicode.IsControl) >= 0 || text.Width(s) != read.Cells {
			t.Fatalf("%q is drawn as %q", line, s)
		}
	})
}
