package cli

import (
	"bufio"
	"os"
	"testing"

	"tandem/engine/api"
)

func TestLogsFollowExitsWhenItsReaderCloses(t *testing.T) {
	r := newRig(t)
	silent, calls := make(chan struct{}), 0
	first := logOf("ready\n", api.StateRunning)
	r.log = func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		if calls++; calls > 1 {
			<-silent // the process writes nothing more
		}
		return first(in)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	status := make(chan int, 1)
	o := r.options
	o.Stdout, o.Stderr = writer, os.Stderr
	go func() { status <- Main(t.Context(), o, []string{"logs", "-f", "web"}) }()
	if line, err := bufio.NewReader(reader).ReadString('\n'); line != "ready\n" {
		t.Errorf("%q, %v", line, err)
	}
	reader.Close()
	if got := <-status; got != 141 {
		t.Errorf("status %d, want that of SIGPIPE", got)
	}
	close(silent)
}
