package engine

import (
	"os"
	"strconv"
	"strings"
)

// Engines up to 0.2.0 start the next engine in a process of its own. It inherits the two locks, a
// pipe that is closed once the keeper knows this process, and the terminals, whose names are in
// successorVariable: id:pid, separated by commas.

const (
	successorVariable = "TANDEM_TERMINALS"
	successorLock     = 3
	successorTurn     = successorLock + 2
	successorTerminal = successorTurn + 1
)

// inheritAsSuccessor returns the value of inheritedVariable for a process started by such an
// engine; false for another process.
func inheritAsSuccessor() (list string, passed bool) {
	names, passed := os.LookupEnv(successorVariable)
	os.Unsetenv(successorVariable)
	if !passed {
		return "", false
	}
	turn := os.NewFile(successorTurn, "turn")
	_, _ = turn.Read(make([]byte, 1)) // returns at the end of file
	turn.Close()
	named := func(name string, fd int) string { return name + "=" + strconv.Itoa(fd) }
	all := []string{named(inheritedLock, successorLock), named(inheritedRecords, successorLock+1)}
	if names != "" {
		for i, name := range strings.Split(names, ",") {
			all = append(all, named(name, successorTerminal+i))
		}
	}
	return strings.Join(all, ","), true
}
