package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestEngineErrorPrintsItsHintOnASeparateLine(t *testing.T) {
	r := newRig(t)
	_, stderr, status := r.run("screen", "nobody")
	if status != 1 || stderr != "tandem: find session \"nobody\": there is none\nhint: `tandem ls` lists them\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestUnwritableOutputIsAnError(t *testing.T) {
	r := newRig(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	o := r.options
	var stderr bytes.Buffer
	o.Stdout, o.Stderr = full, &stderr
	if status := Main(t.Context(), o, []string{"info"}); status != 1 || !strings.Contains(stderr.String(), "write to standard output") {
		t.Errorf("status %d, %q", status, &stderr)
	}
}
