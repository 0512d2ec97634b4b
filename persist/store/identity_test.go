package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeProc is a /proc with one process in it.
func fakeProc(t testing.TB, boot string, pid int, statLine string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range map[string]string{
		"sys/kernel/random/boot_id": boot + "\n",
		fmt.Sprint(pid, "/stat"):    statLine,
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// statLine is a line of /proc/<pid>/stat.
func statLine(pid int, name string, state byte, start uint64) string {
	return fmt.Sprintf("%d (%s) %c 1 1 1 34816 1 4194560 1 0 0 0 1 2 3 4 20 0 1 0 %d%s\n", pid, name, state, start, strings.Repeat(" 5", 30))
}

func TestAliveChecksBootPIDStartTimeAndState(t *testing.T) {
	me := Identity{BootID: "boot", PID: 42, StartTime: 777}
	for _, c := range []struct {
		name string
		line string
		id   Identity
		want bool
	}{
		{"same", statLine(42, "sh", 'S', 777), me, true},
		{"stopped", statLine(42, "sh", 'T', 777), me, true},
		{"name with parentheses and newline", statLine(42, "a) Z 1\n2 (b", 'R', 777), me, true},
		{"another start", statLine(42, "sh", 'S', 778), me, false},
		{"another boot", statLine(42, "sh", 'S', 777), Identity{"other", 42, 777}, false},
		{"another pid", statLine(42, "sh", 'S', 777), Identity{"boot", 43, 777}, false},
		{"zombie", statLine(42, "sh", 'Z', 777), me, false},
		{"dead", statLine(42, "sh", 'X', 777), me, false},
		{"no pid", statLine(42, "sh", 'S', 777), Identity{BootID: "boot"}, false},
		{"cannot be told", "damaged", me, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.id.alive(fakeProc(t, "boot", 42, c.line)); got != c.want {
				t.Errorf("alive is %v", got)
			}
		})
	}
}

func TestIdentifyReturnsTheStartTime(t *testing.T) {
	root := fakeProc(t, "boot", 42, statLine(42, "(a) b", 'S', 1<<64-1))
	got, err := identify(root, 42)
	if want := (Identity{"boot", 42, 1<<64 - 1}); got != want || err != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := identify(root, 43); err == nil {
		t.Error("a process that is not there has an identity")
	}
	if _, err := identify(t.TempDir(), 42); err == nil {
		t.Error("an identity without a boot id")
	}
	if _, err := bootID(fakeProc(t, "", 1, "")); err == nil {
		t.Error("an empty boot id")
	}
}

func TestBootIDReturnsTheKernelsID(t *testing.T) {
	id, err := BootID()
	if err != nil || len(id) != 36 || strings.Count(id, "-") != 4 {
		t.Fatalf("%q, %v", id, err)
	}
}
