package faults

import (
	"os"
	"testing"

	"tandem/tests/harness"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(injectorSocket); socket != "" {
		submit(socket)
	}
	harness.Main(m)
}
