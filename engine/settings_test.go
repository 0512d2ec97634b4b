package engine

import (
	"slices"
	"testing"

	"tandem/engine/screen/vt"
	"tandem/persist/config/settings"
	"tandem/persist/store"
)

func TestSettingsApplyToLaterStarts(t *testing.T) {
	t.Parallel()
	h := new(host)
	h.settings.dataDir = t.TempDir()
	changed := Settings{Engine: settings.Defaults().Engine}
	changed.Shell = []string{"first"}
	if err := h.settings.apply(changed); err != nil {
		t.Fatal(err)
	}
	if got := h.settings.shell(nil); !slices.Equal(got, []string{"first"}) {
		t.Errorf("the shell is %q", got)
	}
	shell := store.Record{ID: "1", Terminal: store.Terminal{TTY: true}, Command: store.Command{Argv: []string{"/bin/bash"}}}
	changed.Shell, changed.Emulator, changed.Scrollback = []string{"second"}, "vt10x", 7
	if err := h.settings.apply(changed); err != nil {
		t.Fatal(err)
	}
	now := h.settings.now()
	if !slices.Equal(h.settings.shell(nil), []string{"second"}) || now.Scrollback != 7 {
		t.Errorf("what holds is %+v", now.Settings)
	}
	if now.shells.Nonce(shell.ID, shell.Argv) == "" {
		t.Error("shells do not mark their prompts")
	}
	before := h.newEmulator(vt.Options{Cols: 10, Rows: 2})
	changed.ShellIntegration = false
	if err := h.settings.apply(changed); err != nil {
		t.Fatal(err)
	}
	if h.settings.now().shells.Nonce(shell.ID, shell.Argv) != "" || before == nil {
		t.Error("shells mark their prompts against the settings")
	}
}
