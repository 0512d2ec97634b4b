package engine

import (
	"slices"
	"testing"

	"tandem/engine/vt"
	"tandem/persist/store"
)

func TestSettingsApplyToLaterStarts(t *testing.T) {
	t.Parallel()
	h := new(host)
	h.settings.dataDir = t.TempDir()
	if err := h.settings.apply(Settings{Shell: []string{"first"}}); err != nil {
		t.Fatal(err)
	}
	if got := h.settings.shell(nil); !slices.Equal(got, []string{"first"}) {
		t.Errorf("the shell is %q", got)
	}
	off := false
	shell := store.Record{ID: "1", Terminal: store.Terminal{TTY: true}, Command: store.Command{Argv: []string{"/bin/bash"}}}
	if err := h.settings.apply(Settings{Shell: []string{"second"}, Emulator: "vt10x", Scrollback: 7}); err != nil {
		t.Fatal(err)
	}
	now := h.settings.now()
	if !slices.Equal(h.settings.shell(nil), []string{"second"}) || now.LogLimit != 1<<30 || now.ProcessLogLimit != 64<<20 {
		t.Errorf("what holds is %+v", now.Settings)
	}
	if now.shells.Nonce(shell.ID, shell.Argv) == "" {
		t.Error("shells do not mark their prompts")
	}
	before := h.newEmulator(vt.Options{Cols: 10, Rows: 2})
	if err := h.settings.apply(Settings{ShellIntegration: &off}); err != nil {
		t.Fatal(err)
	}
	if h.settings.now().shells.Nonce(shell.ID, shell.Argv) != "" || before == nil {
		t.Error("shells mark their prompts against the settings")
	}
}
