package engine

import (
	"os"
	"strconv"
	"strings"
)

// Engines up to 0.2.0 start the next engine as a new process. That process inherits two locks, a
// pipe, and the terminals. The pipe is closed once the keeper knows the process. successorVariable
// lists the terminals as id:pid, separated by commas.

const (
	successorVariable = "TANDEM_TERMINALS"
	successorLock     = 3
	successorTurn     = successorLock + 2
	successorTerminal = successorTurn + 1
)

// inheritAsSuccessor returns what inheritedVariable would contain if this process was started by an
// engine up to 0.2.0. Otherwise passed is false.
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
