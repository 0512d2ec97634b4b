package launch

import (
	"testing"

	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

func TestOnlyOneShotCommandsRunWithoutAShell(t *testing.T) {
	t.Parallel()
	spec := keeper.Spec{Argv: []string{"bash", "-c", "true"}, Env: []string{"PATH=/usr/bin:/bin"}, CWD: "/"}
	if _, ok := withoutShell(store.Record{Transient: true}, spec); !ok {
		t.Error("a one-shot command needs its shell")
	}
	for _, r := range []store.Record{{}, {Transient: true, Terminal: store.Terminal{TTY: true}}} {
		if d, ok := withoutShell(r, spec); ok {
			t.Errorf("%+v: %q", r, d.Argv)
		}
	}
	if !isExecutable("/proc/self/exe") || isExecutable("/dev/zero") || isExecutable("/") || isExecutable("/etc/passwd") {
		t.Error("what the kernel starts is not known")
	}
}
