package persist

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// The test binary is also the processes that tests start: roleVar says which.
const (
	roleVar    = "TANDEM_PERSIST_TEST_ROLE"
	roleWait   = "wait"   // lives until its standard input ends
	roleWriter = "writer" // floods a log; see runWriter

	pathVar  = "TANDEM_PERSIST_TEST_LOG"
	limitVar = "TANDEM_PERSIST_TEST_LIMIT"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		goleak.VerifyTestMain(m)
	case roleWait:
		io.Copy(io.Discard, os.Stdin)
	case roleWriter:
		if err := runWriter(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// runWriter appends numbered lines to a log until it is killed. After each
// commit it writes the end of the log, 8 bytes, to standard output.
func runWriter() error {
	limit, err := strconv.ParseInt(os.Getenv(limitVar), 10, 64)
	if err != nil {
		return err
	}
	l, err := OpenLog(os.Getenv(pathVar), LogOptions{Limit: limit})
	if err != nil {
		return err
	}
	for {
		s, err := l.Space(1)
		if err != nil {
			return err
		}
		n := fillLines(s[:min(len(s), int(1+l.End()%5000))], l.End())
		l.Commit(n)
		var ack [8]byte
		binary.LittleEndian.PutUint64(ack[:], uint64(l.End()))
		if _, err := os.Stdout.Write(ack[:]); err != nil {
			return err
		}
	}
}

// lineLen is the length of the lines that fillLines makes.
const lineLen = 16

// fillLines fills b with what a log of numbered lines has at offset off.
func fillLines(b []byte, off int64) int {
	n := 0
	for n < len(b) {
		at := off + int64(n)
		line := fmt.Appendf(nil, "%0*d\n", lineLen-1, at/lineLen)
		n += copy(b[n:], line[at%lineLen:])
	}
	return n
}
