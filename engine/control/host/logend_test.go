package host

import (
	"bytes"
	"testing"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	config "tandem/persist/config/settings"
	"tandem/persist/store"
)

func TestLogKeepsNULsBeforeAResizeWhenTheEngineCrashes(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{store: data}
	h.settings.current.Store(&currentSettings{Engine: config.Engine{LogLimit: 1 << 20}})
	r := supervise.NewRecord("0123456789ab", api.KindSession)
	if err := data.Save(r); err != nil {
		t.Fatal(err)
	}
	crashed, err := h.openLog(r)
	if err != nil {
		t.Fatal(err)
	}
	const printed = "text\x00\x00\x00"
	space, err := crashed.Space(len(printed))
	if err != nil {
		t.Fatal(err)
	}
	// A crash leaves the file with its preallocated space.
	crashed.Commit(copy(space, printed))
	want := crashed.End()
	if err := data.AppendResize(r.ID, store.Resize{Offset: want, Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	log, err := h.openLog(r)
	if err != nil {
		t.Fatal(err)
	}
	if log.End() != want {
		t.Errorf("the log ends at %d, want %d", log.End(), want)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTerminalLogKeepsOutputThatItsScreenHasNotParsed(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{store: data}
	h.settings.current.Store(&currentSettings{Engine: config.Defaults().Engine})
	r := supervise.NewRecord("0123456789ab", api.KindSession)
	r.LogLimit = 1
	if err := data.Save(r); err != nil {
		t.Fatal(err)
	}
	log, err := h.openLog(r)
	if err != nil {
		t.Fatal(err)
	}
	for range 1024 {
		space, err := log.Space(32 << 10)
		if err != nil {
			t.Fatal(err)
		}
		log.Commit(copy(space, bytes.Repeat([]byte{'x'}, 32<<10)))
		if kept := log.End() - log.Start(); log.Start() > 0 && kept < 5<<18 { // 1 MiB, and what one read adds
			t.Fatalf("%d bytes are kept", kept)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}
