// Report runs a go test command and adds results missing from its output: the slowest packages and
// tests, the skipped tests with the packages to install for them, and the processes and files left
// behind. It repeats a failed test once, alone, if the test starts real processes, and names it as
// unstable if it then passes.
//
//	go run ./tests/report go test ./...
//
// Its exit status is that of go test, 0 if all failed tests were unstable, or 1 if something was
// left behind.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	maxRows = 10               // packages and tests listed as slowest
	grace   = 10 * time.Second // for processes still shutting down after the last test
)

// An event is a line of `go test -json` (see `go doc test2json`).
type event struct {
	Action, Package, Test string
	Output                string  // of a result: all of the test's
	Key                   string  // of an attribute
	Elapsed               float64 // seconds
}

func (e event) fullName() string { return strings.TrimSuffix(e.Package+" "+e.Test, " ") }

func main() {
	if len(os.Args) < 3 || os.Args[1] != "go" || os.Args[2] != "test" {
		fmt.Fprintln(os.Stderr, "usage: report go test [FLAG…] [PACKAGE…]")
		os.Exit(2)
	}
	status, err := run(os.Args[3:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "report: %v\n", err)
		os.Exit(1)
	}
	os.Exit(status)
}

// run runs go test with args, repeats what may be repeated, and returns the exit status for main.
func run(args []string) (int, error) {
	s := newSummary(os.Stdout)
	status, left, err := runTests(args, s)
	switch {
	case err != nil || status == 0 && len(left) == 0:
		return status, err
	case len(left) > 0:
		return max(status, 1), nil
	}
	return repeatFailures(os.Stdout, s, args, status, runTests)
}

// runTests implements runner: it starts go test and prints the report as well.
func runTests(args []string, s *summary) (status int, left []string, err error) {
	temp, err := os.MkdirTemp("", "rt") // short, because the paths of sockets begin with it
	if err != nil {
		return 0, nil, err
	}
	if err := os.Chmod(temp, 0o755); err != nil { // some tests run as another user
		return 0, nil, err
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "TMPDIR="+temp), os.Stderr
	events, stdout, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	cmd.Stdout = stdout
	begun := time.Now()
	family, err := adopt(cmd)
	// The command must hold the last writing end, or reading would never reach EOF.
	stdout.Close()
	if err != nil {
		return 0, nil, err
	}
	if err := s.readEvents(events); err != nil {
		return 0, nil, err
	}
	status, cpu := family.wait()
	s.printReport(time.Since(begun), cpu)
	left = append(family.leftovers(grace), filesIn(temp)...)
	for _, l := range left {
		fmt.Fprintln(s.out, "left behind:", l)
	}
	if len(left) > 0 {
		return status, left, nil
	}
	return status, nil, os.RemoveAll(temp)
}

func filesIn(dir string) (found []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		// These stay: fish's directory of a user, and the locks of tests/places.
		if strings.HasPrefix(e.Name(), "fish.") || strings.HasPrefix(e.Name(), "places.") {
			continue
		}
		found = append(found, "file "+dir+"/"+e.Name())
	}
	return found
}

// A summary prints results as they arrive and collects the rest for the end.
type summary struct {
	out       io.Writer
	output    map[string][]string // by event.fullName, of unfinished tests and packages
	packages  []event
	tests     []event
	skipped   map[string]int    // by reason
	processes map[string]bool   // by event.fullName: the test starts processes
	fatal     map[string]string // by package: why its failure is final
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[string][]string{}, skipped: map[string]int{},
		processes: map[string]bool{}, fatal: map[string]string{}}
}

// readEvents handles the events of go test until EOF.
func (s *summary) readEvents(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil { // not every build failure is an event
			s.out.Write(line)
			continue
		}
		s.addEvent(e)
	}
}

func (s *summary) addEvent(e event) {
	name := e.fullName()
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "attr":
		s.processes[name] = s.processes[name] || e.Key == "processes"
	case "output":
		s.output[name] = append(s.output[name], e.Output)
		if strings.Contains(e.Output, "WARNING: DATA RACE") {
			s.fatal[e.Package] = "has a data race"
		}
	case "pass", "fail", "skip":
		s.finishTest(e, s.output[name])
		delete(s.output, name)
	}
}

// finishTest handles the result of a package or test; output is its output so far.
func (s *summary) finishTest(e event, output []string) {
	if e.Test == "" {
		s.packages = append(s.packages, e)
		// The testing package prints this line after the last test.
		if e.Action == "fail" && !slices.Contains(output, "FAIL\n") {
			s.fatal[e.Package] = "was not run to its end"
		}
	} else {
		e.Output = strings.Join(output, "")
		s.tests = append(s.tests, e)
	}
	switch {
	case e.Action == "fail":
		if e.Test == "" {
			s.printUnfinished(e.Package)
		}
		fmt.Fprint(s.out, strings.Join(output, ""))
	case e.Test == "" && len(output) > 0: // the line printed by go test without -json
		fmt.Fprint(s.out, output[len(output)-1])
	case e.Action == "skip":
		s.skipped[skipReason(output)]++
	}
}

// printUnfinished prints the output of the tests of a package that were running when it ended: with
// a panic, or with the time limit's list of running tests.
func (s *summary) printUnfinished(pkg string) {
	for _, name := range slices.Sorted(maps.Keys(s.output)) {
		output := s.output[name]
		if !strings.HasPrefix(name, pkg+" ") {
			continue
		}
		s.fatal[pkg] = "was not run to its end"
		if !strings.HasPrefix(output[len(output)-1], "=== PAUSE") {
			fmt.Fprint(s.out, strings.Join(output, ""))
		}
	}
}

// skipReason returns the message of t.Skip.
func skipReason(output []string) string {
	text := strings.Join(output, "")
	if found := regexp.MustCompile(`(needs .*|left out by .*)`).FindString(text); found != "" {
		return found
	}
	return "no known reason: " + strings.Join(strings.Fields(text), " ")
}

func (s *summary) printReport(wall, cpu time.Duration) {
	fmt.Fprintf(s.out, "\n%s, %s of processor time\n", wall.Round(time.Second), cpu.Round(time.Second))
	for _, list := range []struct {
		title  string
		events []event
	}{{"slowest packages", s.packages}, {"slowest tests", s.tests}} {
		slices.SortFunc(list.events, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
		fmt.Fprintf(s.out, "\n%s\n", list.title)
		for _, e := range list.events[:min(maxRows, len(list.events))] {
			fmt.Fprintf(s.out, "%8.1f s  %s\n", e.Elapsed, e.fullName())
		}
	}
	if len(s.skipped) > 0 {
		fmt.Fprint(s.out, "\nskipped\n")
	}
	for _, reason := range slices.Sorted(maps.Keys(s.skipped)) {
		fmt.Fprintf(s.out, "%8d tests: %s\n", s.skipped[reason], reason)
	}
}
