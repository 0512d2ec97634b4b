package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Events of a test that starts processes and fails, and of the end of its package.
const (
	unstableTest = `{"Action":"attr","Package":"m/a","Test":"TestX/sub_1","Key":"processes","Value":"real"}
{"Action":"output","Package":"m/a","Test":"TestX/sub_1","Output":"too slow\n"}
{"Action":"fail","Package":"m/a","Test":"TestX/sub_1"}
{"Action":"fail","Package":"m/a","Test":"TestX"}
`
	packageFailed = `{"Action":"output","Package":"m/a","Output":"FAIL\n"}
{"Action":"fail","Package":"m/a"}
`
	testPassed = `{"Action":"output","Package":"m/a","Test":"TestX/sub_1","Output":"fast enough\n"}
{"Action":"pass","Package":"m/a","Test":"TestX/sub_1"}
`
)

// A fakeRunner adds the events of its next output for each run of go test.
type fakeRunner struct {
	t      *testing.T
	events []string
	status int
	left   []string
	args   [][]string
}

func (f *fakeRunner) run(args []string, s *summary) (int, []string, error) {
	if len(f.events) == 0 {
		f.t.Fatalf("unexpected run of go test %q", args)
	}
	if err := s.readEvents(strings.NewReader(f.events[0])); err != nil {
		f.t.Fatal(err)
	}
	f.events, f.args = f.events[1:], append(f.args, args)
	return f.status, f.left, nil
}

// repeat feeds events to a summary and repeats the failures.
func repeat(t *testing.T, f *fakeRunner, events string) (status int, printed string) {
	t.Helper()
	var out strings.Builder
	f.t = t
	s := newSummary(&out)
	if err := s.readEvents(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	status, err := repeatFailures(&out, s, []string{"-race", "-timeout", "30m", "./...", "."}, 7, f.run)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.events) > 0 {
		t.Errorf("not repeated: %q", f.events)
	}
	return status, out.String()
}

func TestTestThatPassesAloneIsNamedAsUnstable(t *testing.T) {
	f := &fakeRunner{events: []string{testPassed}}
	status, printed := repeat(t, f, unstableTest+packageFailed)
	const want = `
m/a TestX/sub_1 failed:
too slow

and when repeated alone had the result "pass":
fast enough

unstable: m/a TestX/sub_1
`
	if status != 0 || printed != want {
		t.Errorf("status %d, printed\n%s", status, printed)
	}
	if want := []string{"-race", "-timeout", "30m", "-count=1", "-p=1", "-parallel=1", "-run=^TestX$/^sub_1$", "m/a"}; !slices.Equal(f.args[0], want) {
		t.Errorf("ran go test %q", f.args[0])
	}
}

func TestFailureOfTheRepetitionFailsTheRun(t *testing.T) {
	for name, f := range map[string]*fakeRunner{
		"fails again":       {events: []string{strings.Replace(testPassed, `"pass"`, `"fail"`, 1)}, status: 1},
		"is skipped":        {events: []string{strings.Replace(testPassed, `"pass"`, `"skip"`, 1)}},
		"is not run":        {events: []string{""}},
		"package fails":     {events: []string{testPassed + packageFailed}, status: 1},
		"leaves a process":  {events: []string{testPassed}, left: []string{"process 7"}},
		"another test runs": {events: []string{strings.ReplaceAll(testPassed, "sub_1", "sub_2")}},
	} {
		if status, printed := repeat(t, f, unstableTest+packageFailed); status != 7 || strings.Contains(printed, "unstable:") {
			t.Errorf("%s: status %d, printed\n%s", name, status, printed)
		}
	}
}

func TestOnlyTestsThatStartProcessesAreRepeated(t *testing.T) {
	many := ""
	for i := range maxUnstable + 1 {
		many += strings.ReplaceAll(unstableTest, "TestX", fmt.Sprintf("Test%d", i))
	}
	for why, events := range map[string]string{
		"m/a TestX/sub_1 starts no processes": strings.Replace(unstableTest, `"attr"`, `"run"`, 1) + packageFailed,
		"m/a TestPure starts no processes":    unstableTest + `{"Action":"fail","Package":"m/a","Test":"TestPure"}` + "\n" + packageFailed,
		"m/a has a data race":                 strings.Replace(unstableTest, "too slow", "WARNING: DATA RACE", 1) + packageFailed,
		"m/a was not run to its end":          unstableTest + strings.Replace(packageFailed, "FAIL", "panic: stumbled", 1),
		"m/b was not run to its end": unstableTest + packageFailed +
			`{"Action":"output","Package":"m/b","Test":"TestY","Output":"=== RUN   TestY\n"}` + "\n" + strings.ReplaceAll(packageFailed, "m/a", "m/b"),
		"m/b failed outside its tests": unstableTest + packageFailed + strings.ReplaceAll(packageFailed, "m/a", "m/b"),
		"4 tests failed, more than 3":  many + packageFailed,
		"no test failed":               "",
	} {
		status, printed := repeat(t, &fakeRunner{}, events)
		if status != 7 || printed != "\nnothing repeated: "+why+"\n" {
			t.Errorf("status %d, printed %q, want %q", status, printed, why)
		}
	}
}

func TestSubtestInheritsItsParentsAttribute(t *testing.T) {
	attr := strings.Replace(strings.SplitAfter(unstableTest, "\n")[0], "/sub_1", "", 1)
	f := &fakeRunner{events: []string{testPassed}}
	if status, printed := repeat(t, f, attr+strings.Replace(unstableTest, `"attr"`, `"run"`, 1)+packageFailed); status != 0 {
		t.Errorf("status %d, printed\n%s", status, printed)
	}
}

// Checks the events that go test actually prints.
func TestUnstableTestOfAModulePassesAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"x_test.go": `package m

import (
	"os"
	"testing"
)

func TestX(t *testing.T) {
	t.Run("sub 1", func(t *testing.T) {
		t.Attr("processes", "real")
		if f, err := os.OpenFile("ran", os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			f.Close()
			t.Error("first run")
		}
	})
}

func TestPanic(t *testing.T) {
	if os.Getenv("PANIC") != "" {
		t.Attr("processes", "real")
		panic("stumbled")
	}
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	run := func() (int, string) {
		var out strings.Builder
		s := newSummary(&out)
		status, left, err := runTests([]string{"."}, s)
		if err != nil || status == 0 || left != nil {
			t.Fatalf("status %d, left behind %q, %v\n%s", status, left, err, out.String())
		}
		status, err = repeatFailures(&out, s, []string{"."}, status, runTests)
		if err != nil {
			t.Fatal(err)
		}
		return status, out.String()
	}
	if status, printed := run(); status != 0 || !strings.HasSuffix(printed, "\nunstable: m TestX/sub_1\n") {
		t.Errorf("status %d, printed\n%s", status, printed)
	}
	t.Setenv("PANIC", "1")
	if status, printed := run(); status == 0 || !strings.HasSuffix(printed, "nothing repeated: m was not run to its end\n") {
		t.Errorf("status %d, printed\n%s", status, printed)
	}
}
