package ptylog

import (
	"os"
	"strconv"
	"testing"

	"tandem/persist/logtest"
)

const roleWriter = "writer" // floods the log at logtest.PathVar

func TestMain(m *testing.M) {
	logtest.Main(m, map[string]func() error{roleWriter: runWriter})
}

// runWriter appends numbered lines to a log until it is killed, and acks its
// end after each commit.
func runWriter() error {
	limit, err := strconv.ParseInt(os.Getenv(logtest.LimitVar), 10, 64)
	if err != nil {
		return err
	}
	l, err := Open(os.Getenv(logtest.PathVar), Options{Limit: limit})
	if err != nil {
		return err
	}
	for {
		s, err := l.Space(1)
		if err != nil {
			return err
		}
		n := min(len(s), int(1+l.End()%5000))
		logtest.FillLines(s[:n], l.End())
		l.Commit(n)
		if err := logtest.Ack(l.End()); err != nil {
			return err
		}
	}
}
