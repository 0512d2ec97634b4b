package host

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/persist/store"
)

func TestLostLogOfAPrivateSessionBeginsWithANote(t *testing.T) {
	var p privateSessions
	path := filepath.Join(t.TempDir(), "process.log")
	for _, c := range []struct {
		ran  bool
		want string
	}{{false, ""}, {true, ""}, {true, lostNote}} {
		log, err := p.openLog(path, 1<<20, c.ran)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(io.NewSectionReader(log, log.Start(), log.End()-log.Start()))
		if err != nil || string(text) != c.want {
			t.Errorf("ran %v: %q, %v", c.ran, text, err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if c.ran {
			p.remove("a", path)
		}
	}
}

func TestJournalInMemoryKeepsSizesInOrder(t *testing.T) {
	var p privateSessions
	for _, offset := range []int64{0, 10, 20, 10} {
		if err := p.AppendResize("a", store.Resize{Offset: offset, Cols: 80, Rows: 24}); err != nil {
			t.Fatal(err)
		}
	}
	sizes, err := p.ReadResizes("a")
	offsets := []int64{}
	for _, s := range sizes {
		offsets = append(offsets, s.Offset)
	}
	if err != nil || !slices.Equal(offsets, []int64{0, 10}) {
		t.Errorf("sizes at %d, %v", offsets, err)
	}
}

func TestPrivateSessionThatWaitsFailsWithItsEngine(t *testing.T) {
	for state, want := range map[api.State]api.State{api.StateWaiting: api.StateFailed, api.StateBackoff: api.StateFailed, api.StateRunning: api.StateRunning} {
		r := store.Record{State: string(state)}
		if failLost(&r); r.State != string(state) {
			t.Errorf("an ordinary one is %s", r.State)
		}
		r.Private = true
		failLost(&r)
		if r.State != string(want) || (r.Error != "") != (want == api.StateFailed) {
			t.Errorf("%s became %s (%s)", state, r.State, r.Error)
		}
	}
}

func TestLogOfAPrivateSessionHasNoErrors(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	r := store.Record{}
	r.Private = true
	loggerFor(r, log).Error("show output", "id", "a1", "error", errors.New("hush"), "panic", "hush")
	if text := out.String(); strings.Contains(text, "hush") || !strings.Contains(text, "id=a1") {
		t.Errorf("logged %s", text)
	}
}
