package host

import (
	"reflect"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

func TestStopStepsUseTheCallersSignalOrTheRecords(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond
	record := func(tty bool, signal string) store.Record {
		r := supervise.NewRecord("a", api.KindProcess)
		r.TTY, r.StopSignal, r.StopTimeoutMS = tty, signal, int(timeout.Milliseconds())
		return r
	}
	for _, c := range []struct {
		r     store.Record
		asked string
		want  []proctree.Step
	}{
		{record(false, ""), "", proctree.StopSteps(unix.SIGTERM, timeout)},
		{record(false, "int"), "", proctree.StopSteps(unix.SIGINT, timeout)},
		{record(false, "SIGINT"), "SIGUSR1", proctree.StopSteps(unix.SIGUSR1, timeout)},
		{record(false, ""), "10", proctree.StopSteps(unix.SIGUSR1, timeout)},
		{record(true, "TERM"), "", proctree.StopSteps(unix.SIGTERM, timeout)},
		{record(true, "INT"), "", proctree.StopSteps(unix.SIGINT, timeout)},
		{record(true, "HUP"), "", proctree.StopSteps(unix.SIGHUP, timeout)},
		{record(true, ""), "", proctree.TerminalSteps(timeout)},
	} {
		if got := stopSteps(c.r, c.asked); !reflect.DeepEqual(got, c.want) {
			t.Errorf("terminal %t, own signal %q, asked for %q: %+v, want %+v", c.r.TTY, c.r.StopSignal, c.asked, got, c.want)
		}
	}
}
