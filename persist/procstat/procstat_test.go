package procstat

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// line returns a stat line. Each number in it is the number of its field, except for the start
// time.
func line(name, state string, start uint64) string {
	text := fmt.Sprintf("7 (%s) %s", name, state)
	for n := 4; n <= 52; n++ {
		switch n {
		case 8, 18:
			text += " -1"
		case 22:
			text += fmt.Sprint(" ", start)
		default:
			text += fmt.Sprint(" ", n)
		}
	}
	return text + "\n"
}

func TestParseFindsTheFieldsAfterAnyName(t *testing.T) {
	for _, name := range []string{"sh", "", "a) b (c", "a) Z 1\n2 (b", ") S 1 2 3"} {
		want := Process{
			PID: 7, Parent: 4, Group: 5, Session: 6, Name: name, State: 'S', Terminal: 7, Flags: 9,
			CPU: 14 + 15 + 16 + 17, Threads: 20, StartTime: 1<<64 - 1, ExitCode: 52,
		}
		if got, err := Parse([]byte(line(name, "S", 1<<64-1))); got != want || err != nil {
			t.Errorf("%q: %+v, %v, want %+v", name, got, err, want)
		}
	}
}

func TestParseRejectsDamagedLines(t *testing.T) {
	whole := strings.TrimSuffix(line("sh", "S", 99), "\n")
	short := whole[:strings.LastIndexByte(whole, ' ')]
	for _, damaged := range []string{"", "7", "7 (sh", "7 (sh)", short, line("sh", "SS", 99), line("sh", "-1", 99), strings.Replace(whole, " 99 ", " x ", 1), ")(" + whole[5:], whole[1:]} {
		if got, err := Parse([]byte(damaged)); err == nil {
			t.Errorf("%q was parsed: %+v", damaged, got)
		}
	}
}

func TestReadReturnsTheStateOfThisProcess(t *testing.T) {
	p, err := Read(os.Getpid())
	if err != nil || p.PID != os.Getpid() || p.Parent != os.Getppid() || p.StartTime == 0 || p.IsZombie() {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := Read(0); !os.IsNotExist(err) {
		t.Errorf("read process 0: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(line("a) b", "S", 99))
	f.Add("7 (a) S -1 -2")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse([]byte(text))
		if err == nil && (!strings.Contains(text, "("+p.Name+")") || strings.IndexByte(text, p.State) < 0) {
			t.Fatalf("%q gave %+v", text, p)
		}
	})
}
