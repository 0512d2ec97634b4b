package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// maxUnstable is how many tests of a run may fail and then pass.
const maxUnstable = 3

// A runner runs go test with args, adds the results to s, and returns the exit status and what was
// left behind.
type runner func(args []string, s *summary) (status int, left []string, err error)

// repeatFailures runs each failed test of a run once more, alone, and returns 0 if all of them then
// pass, otherwise status. Nothing is repeated if any failure cannot be due to processes that were
// slow or started together; see failedTests.
func repeatFailures(out io.Writer, s *summary, args []string, status int, run runner) (int, error) {
	tests, err := s.failedTests()
	if err != nil {
		fmt.Fprintf(out, "\nnothing repeated: %v\n", err)
		return status, nil
	}
	var unstable []event
	for _, first := range tests {
		again := newSummary(io.Discard)
		status, left, err := run(argsForOne(args, first), again)
		if err != nil {
			return status, err
		}
		second := again.result(first)
		fmt.Fprintf(out, "\n%s failed:\n%s\nand when repeated alone had the result %q:\n%s",
			first.fullName(), first.Output, second.Action, second.Output)
		if status == 0 && second.Action == "pass" && len(left) == 0 {
			unstable = append(unstable, first)
		}
		for _, l := range left {
			fmt.Fprintln(out, "left behind:", l)
		}
	}
	if len(unstable) == len(tests) {
		status = 0
	}
	fmt.Fprintln(out)
	for _, e := range unstable {
		fmt.Fprintf(out, "unstable: %s\n", e.fullName())
	}
	return status, nil
}

// failedTests returns the failed tests without their parents. It returns an error if they must not
// be repeated: only tests that start processes may be, at most maxUnstable of them, and only if
// each package with a failure ran to its end without a data race.
func (s *summary) failedTests() (tests []event, err error) {
	failed := func(e event) bool { return e.Action == "fail" }
	for _, e := range s.tests {
		if failed(e) && !slices.ContainsFunc(s.tests, func(sub event) bool {
			return failed(sub) && strings.HasPrefix(sub.fullName(), e.fullName()+"/")
		}) {
			tests = append(tests, e)
		}
	}
	for _, pkg := range s.packages {
		switch {
		case !failed(pkg):
		case s.fatal[pkg.Package] != "":
			return nil, fmt.Errorf("%s %s", pkg.Package, s.fatal[pkg.Package])
		case !slices.ContainsFunc(tests, func(e event) bool { return e.Package == pkg.Package }):
			return nil, fmt.Errorf("%s failed outside its tests", pkg.Package)
		}
	}
	for _, e := range tests {
		if !s.startsProcesses(e.fullName()) {
			return nil, fmt.Errorf("%s starts no processes", e.fullName())
		}
	}
	switch {
	case len(tests) == 0:
		return nil, fmt.Errorf("no test failed")
	case len(tests) > maxUnstable:
		return nil, fmt.Errorf("%d tests failed, more than %d", len(tests), maxUnstable)
	}
	return tests, nil
}

// startsProcesses reports whether a test or one of its parents has the attribute of places.Take.
func (s *summary) startsProcesses(name string) bool {
	for {
		if s.processes[name] {
			return true
		}
		i := strings.LastIndexByte(name, '/')
		// A slash before the space belongs to the package's path.
		if i < strings.IndexByte(name, ' ') {
			return false
		}
		name = name[:i]
	}
}

// result returns the event in s with the result of the test that the event like is about. Its
// Action is "missing" if the test did not finish.
func (s *summary) result(like event) event {
	for _, e := range s.tests {
		if e.fullName() == like.fullName() {
			return e
		}
	}
	return event{Action: "missing"}
}

// argsForOne returns the arguments that run one test alone, with the flags in args. Arguments that
// begin with a dot are packages.
func argsForOne(args []string, e event) []string {
	flags := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, ".") })
	pattern := strings.Split(regexp.QuoteMeta(e.Test), "/")
	for i, name := range pattern {
		pattern[i] = "^" + name + "$"
	}
	return append(flags, "-count=1", "-p=1", "-parallel=1", "-run="+strings.Join(pattern, "/"), e.Package)
}
