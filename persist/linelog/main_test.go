package linelog

import (
	"os"
	"strconv"
	"testing"

	"tandem/persist/logtest"
)

const roleAppender = "appender" // appends logtest.LimitVar bytes of lines to the file at logtest.PathVar

func TestMain(m *testing.M) {
	logtest.Main(m, map[string]func() error{roleAppender: runAppender})
}

// runAppender appends numbered lines to a plain file as fast as it can.
func runAppender() error {
	total, err := strconv.ParseInt(os.Getenv(logtest.LimitVar), 10, 64)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(os.Getenv(logtest.PathVar), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := make([]byte, 1<<20)
	for at := int64(0); at < total; at += int64(len(lines)) {
		logtest.FillLines(lines, at)
		for rest := lines; len(rest) > 0; {
			n, err := f.Write(rest[:min(len(rest), 4096-len(rest)%64)])
			if err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return nil
}
