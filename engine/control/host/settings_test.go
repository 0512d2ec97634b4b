package host

import (
	"slices"
	"testing"

	"tandem/engine/screen/vt"
	config "tandem/persist/config/settings"
	"tandem/persist/store"
)

func TestSettingsApplyToLaterStarts(t *testing.T) {
	t.Parallel()
	h := &Host{o: Options{DataDir: t.TempDir()}}
	changed := config.Defaults().Engine
	changed.Shell = []string{"first"}
	if err := h.Apply(changed, ResumeOff); err != nil {
		t.Fatal(err)
	}
	if got := h.Shell(nil); !slices.Equal(got, []string{"first"}) {
		t.Errorf("the shell is %q", got)
	}
	shell := store.Record{ID: "1", Terminal: store.Terminal{TTY: true}, Command: store.Command{Argv: []string{"/bin/bash"}}}
	changed.Shell, changed.Emulator, changed.Scrollback = []string{"second"}, "vt10x", 7
	if err := h.Apply(changed, ResumeOff); err != nil {
		t.Fatal(err)
	}
	now := h.settings.now()
	if !slices.Equal(h.Shell(nil), []string{"second"}) || now.Scrollback != 7 {
		t.Errorf("what holds is %+v", now.Engine)
	}
	if now.shells.Nonce(shell.ID, shell.Argv) == "" {
		t.Error("shells do not mark their prompts")
	}
	before := (&sessionHost{host: h}).NewEmulator(vt.Options{Cols: 10, Rows: 2})
	changed.ShellIntegration = false
	if err := h.Apply(changed, ResumeOff); err != nil {
		t.Fatal(err)
	}
	if h.settings.now().shells.Nonce(shell.ID, shell.Argv) != "" || before == nil {
		t.Error("shells mark their prompts against the settings")
	}
}
