package factory

import (
	"fmt"
	"io"
	"os"
)

// OpenNotices opens the file named by TANDEM_NOTICES. The dashboard and attach append each message
// of the status bar to it, so that tests need not catch messages on the screen before they
// disappear. Without the variable, the messages are discarded.
func OpenNotices() (io.Writer, error) {
	path := os.Getenv("TANDEM_NOTICES")
	if path == "" {
		return io.Discard, nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open TANDEM_NOTICES: %w", err)
	}
	return file, nil
}
