package service

import (
	"os/exec"
	"strings"
	"testing"
)

func TestMarkedLineReportsTheExitCode(t *testing.T) {
	t.Parallel()
	const mark = "0123456789ab"
	for _, tc := range []struct {
		before, command string
		output          string
		code            int
	}{
		{"", "echo hi", "hi\n", 0},
		{"", "false", "", 1},
		{"false\n", "echo $?", "1\n", 0},
		{"echo open", "echo it's; (exit 3)", "open\nit's\n", 3},
		{"", "printf x; cat <<END\na\nEND", "xa\n", 0},
		{"", "echo a\necho b", "a\nb\n", 0},
	} {
		shell := exec.CommandContext(t.Context(), "/bin/sh")
		shell.Stdin = strings.NewReader(tc.before + markedLine(strings.ReplaceAll(tc.command, "it's", `"it's"`), mark))
		printed, err := shell.Output()
		if err != nil && tc.code == 0 {
			t.Errorf("%q: %v", tc.command, err)
		}
		code, end, ok := findMark(printed, mark)
		if !ok || code != tc.code || end != len(printed) {
			t.Errorf("%q printed %q: code %d, end %d, found %v", tc.command, printed, code, end, ok)
		}
		if !strings.HasPrefix(string(printed), tc.output+"\x1b]133;D;") {
			t.Errorf("%q printed %q, want %q", tc.command, printed, tc.output)
		}
	}
}

func TestFindMarkNeedsAWholeMark(t *testing.T) {
	t.Parallel()
	const mark = "0123456789ab"
	for data, want := range map[string]int{
		"":                                   0,
		"x\x1b]133;D;7;" + mark:              0,
		"x\x1b]133;D;7;ba9876543210\a":       0,
		"x\x1b]133;D;7;" + mark + "\ay":      24,
		"\x1b]133;D;255;" + mark + "\a\x1b]": 25,
		"x\x1b]133;D;no;" + mark + "\a":      0,
	} {
		if _, end, ok := findMark([]byte(data), mark); ok != (want > 0) || ok && end != want {
			t.Errorf("%q: end %d, found %v; want %d", data, end, ok, want)
		}
	}
}
