package output

import (
	"strings"
	"testing"
)

func TestTableOmitsSpareColumnsOnANarrowTerminal(t *testing.T) {
	list := Table{header: []string{"ID", "NAME", "FOLDER", "COMMAND"}, Spare: []string{"FOLDER", "ID"}, paint: func(_ Tint, s string) string { return s }}
	list.Add(Text("0123456789ab"), Text("web"), Text("~/src/shop"), Text("python3 -m http.server"))
	for width, want := range map[int]string{
		0:  "ID            NAME  FOLDER      COMMAND\n0123456789ab  web   ~/src/shop  python3 -m http.server\n",
		41: "ID            NAME  FOLDER      COMMAND\n0123456789ab  web   ~/src/shop  python3 …\n",
		30: "ID            NAME  COMMAND\n0123456789ab  web   python3 -…\n",
		20: "NAME  COMMAND\nweb   python3 -m ht…\n",
		5:  "NAME  COMMAND\nweb   python3…\n",
	} {
		list.width = width
		if got := list.String(); got != want {
			t.Errorf("on %d columns:\n%swant\n%s", width, got, want)
		}
		for line := range strings.Lines(list.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); width > 13 && n > width {
				t.Errorf("%q has %d columns of %d", line, n, width)
			}
		}
	}
}
