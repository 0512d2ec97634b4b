package keeper

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden packets")

// packets has every message that an engine or a keeper sends, with all its fields.
func packets() []message {
	code := 3
	child := Child{ID: "a1", PID: 42, StartTime: 4200, BootID: "boot", TTY: true}
	ended, killed, unknown := child, child, child
	ended.Exit, killed.Exit, unknown.Exit = &Exit{Code: &code}, &Exit{Signal: "SIGKILL"}, &Exit{Unknown: true}
	tty := Spec{ID: "a1", Dir: "/d/a1", Argv: []string{"vim", "x"}, Path: "/bin/vim", Env: []string{"A=b"}, CWD: "/w", TTY: true, Cols: 80, Rows: 24, Cgroup: "/c"}
	plain := Spec{ID: "a2", Dir: "/d/a2", Argv: []string{"make"}, Env: []string{}, CWD: "/w", Stdout: "/d/o", Stderr: "/d/e", LogLimit: 5, Stdin: "/d/i", Transient: true}
	raw := Spec{ID: "a3", Dir: "/d/\xff", Argv: []string{"\xfe"}, Env: []string{}, CWD: "/"}
	return []message{
		{ID: 1, Op: opHello}, {ID: 1, Op: opReply, PID: 7, Upgrades: true},
		{ID: 2, Op: opReady}, {ID: 2, Op: opReply},
		{ID: 3, Op: opStart, Spec: &tty}, {ID: 3, Op: opReply, Child: &child},
		{ID: 4, Op: opStart, Spec: &plain}, {ID: 4, Op: opReply, Error: "start \"make\": executable not found in PATH"},
		{ID: 5, Op: opStart, Spec: &raw},
		{ID: 6, Op: opList}, {ID: 6, Op: opReply, Children: []Child{child, ended, killed, unknown}},
		{ID: 7, Op: opMaster, ChildID: "a1"},
		{ID: 8, Op: opAdopt, Child: &child, Dir: "/d/a1", Logs: []string{"/d/o", "/d/e"}, LogLimit: 5},
		{ID: 9, Op: opForget, ChildID: "a1"},
		{ID: 10, Op: opReplace}, {ID: 11, Op: opReplace, PID: 8},
		{ID: 12, Op: opPause}, {ID: 13, Op: opWake},
		{Op: opExit, Child: &ended},
		{ID: 14, Op: opStart, Large: true},
		{ID: 15, Op: opReply, Error: "start \"make\": executable not found in PATH", Reason: ProgramNotFound},
	}
}

// frozen explains in a failure why a difference from the golden packets is a defect.
const frozen = "The protocol is frozen: keepers that run now cannot be upgraded, and engines of every release talk to them. " +
	"Fields may be added, and must be optional; nothing may change or go. -update is for added packets."

func TestPacketFormatIsUnchanged(t *testing.T) {
	const golden = "testdata/packets.golden"
	var lines []string
	for _, m := range packets() {
		p, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(p.body))
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s\n%s", frozen, diff)
	}
}

func TestDecodeReadsPacketsOfEveryRelease(t *testing.T) {
	for name, want := range map[string][]message{"packets.golden": packets(), "packets-0.2.0.golden": packetsOf020()} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		if len(lines) != len(want) {
			t.Fatalf("%s has %d packets, want %d", name, len(lines), len(want))
		}
		for i, line := range lines {
			got, err := unmarshal(line)
			want[i].V = wireVersion
			if diff := cmp.Diff(want[i], got); err != nil || diff != "" {
				t.Errorf("%s: %s: %v\n%s\n%s", name, line, err, frozen, diff)
			}
		}
	}
}

// packetsOf020 has the messages of release 0.2.0 that are no longer sent.
func packetsOf020() []message {
	confined := Spec{ID: "a1", Dir: "/d/a1", Argv: []string{"make"}, Env: []string{}, CWD: "/w", Confinement: &struct{}{}}
	return []message{
		{ID: 1, Op: opReply, PID: 7, Succeeds: true},
		{ID: 2, Op: opStart, Spec: &confined},
	}
}
