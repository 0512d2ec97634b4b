package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/persist/store"
	"tandem/tests/wait"
)

// resumeTransfers starts a service on files that continues from the state in data, as the next
// engine does. It reaches a machine called box with the same files.
func resumeTransfers(t *testing.T, data *store.Store) *Files {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := NewFiles(ctx, t.TempDir(), nil, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { cancel(); s.Close() })
	s.Machines = func(context.Context, string) (api.Engine, error) { return s.own, nil }
	s.Handle(server.NewMux(nil))
	if err := s.Resume(data); err != nil {
		t.Fatal(err)
	}
	return s
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestNextEngineReportsWhatBecameOfATransfer(t *testing.T) {
	data := openStore(t)
	first := resumeTransfers(t, data)
	release := make(chan struct{})
	defer close(release)
	begin := func(run func(j *transfer) error) string {
		t.Helper()
		out, err := first.transfers.beginTransfer(api.TransferMove, "", func(_ context.Context, j *transfer) error { return run(j) })
		if err != nil {
			t.Fatal(err)
		}
		return out.Job
	}
	done := begin(func(j *transfer) error {
		j.recordMoved(api.FileMoved{Path: "/a", To: "/b"}, nil)
		return nil
	})
	if _, err := first.getJob(t.Context(), api.FileJobInput{ID: done, WaitMS: 60_000}); err != nil {
		t.Fatal(err)
	}
	moved := make(chan bool)
	killed := begin(func(j *transfer) error {
		j.recordMoved(api.FileMoved{Path: "/c", To: "/d"}, nil)
		close(moved)
		<-release
		return nil
	})
	wait.Receive(t, "the first item", moved)
	next := resumeTransfers(t, data)
	for id, want := range map[string]api.FileJob{
		done:   {ID: done, Kind: api.TransferMove, State: api.JobDone, Handled: 1, Done: []api.FileMoved{{Path: "/a", To: "/b"}}},
		killed: {ID: killed, Kind: api.TransferMove, State: api.JobFailed, Handled: 1, Done: []api.FileMoved{{Path: "/c", To: "/d"}}, Error: "move files: interrupted, because the engine exited"},
	} {
		got, err := next.getJob(t.Context(), api.FileJobInput{ID: id, WaitMS: 60_000})
		if err != nil || got.State != want.State || got.Error != want.Error || got.Handled != want.Handled || !slices.Equal(got.Done, want.Done) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	if _, err := next.getJob(t.Context(), api.FileJobInput{ID: "t1"}); !errors.Is(err, api.CodeNotFound) {
		t.Errorf("an unknown id: %v", err)
	}
}

func TestNextEngineRemovesIncompleteCopies(t *testing.T) {
	for _, machine := range []string{"", "box"} {
		t.Run(machine, func(t *testing.T) {
			data, dir := openStore(t), t.TempDir()
			first := resumeTransfers(t, data)
			source := filepath.Join(dir, "from")
			if err := os.MkdirAll(filepath.Join(source, "below"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(source, "below", "f"), []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			// The engine is killed when it has recorded a copy and written half of it.
			var noted []string
			first.transfers.store = saver{data, func(all []store.Transfer) {
				for _, one := range all {
					noted = append(noted, one.Temps...)
				}
			}}
			in := api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: source, To: filepath.Join(dir, "to")}}}
			begin := first.beginTransfer
			if machine != "" {
				in.Items[0].To = api.PathOn(machine, in.Items[0].To)
				begin = first.beginTransferBetween
			}
			out, err := begin(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if job, err := first.getJob(t.Context(), api.FileJobInput{ID: out.Job, WaitMS: 60_000}); err != nil || job.State != api.JobDone {
				t.Fatalf("%+v, %v", job, err)
			}
			if len(noted) == 0 {
				t.Fatal("no incomplete copy was noted")
			}
			_, temp := api.PathOf(noted[0])
			if filepath.Dir(temp) != dir || !strings.HasSuffix(temp, ".tmp") {
				t.Fatalf("noted %q", noted)
			}
			if err := os.MkdirAll(filepath.Join(temp, "half"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := data.SaveTransfers([]store.Transfer{{ID: out.Job, Kind: api.TransferCopy, State: api.JobRunning, Temps: noted[:1]}}); err != nil {
				t.Fatal(err)
			}
			resumeTransfers(t, data)
			wait.Poll(t, "the removal of the half copy", func() (left []string, gone bool) {
				all, err := data.LoadTransfers()
				if err != nil || len(all) != 1 {
					t.Fatal(all, err)
				}
				return all[0].Temps, len(all[0].Temps) == 0
			})
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
				t.Errorf("left are %v, %v", entries, err)
			}
		})
	}
}

// A saver calls saved with what is saved.
type saver struct {
	*store.Store
	saved func([]store.Transfer)
}

func (s saver) SaveTransfers(all []store.Transfer) error {
	s.saved(all)
	return s.Store.SaveTransfers(all)
}

// A writingEngine calls moved after each rename.
type writingEngine struct {
	ownEngine
	moved func()
}

func (e writingEngine) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	err := e.ownEngine.Do(ctx, name, effect, in, out)
	if name == api.FilesMove.Name {
		e.moved()
	}
	return err
}

func TestMoveToAnotherMachineKeepsWhatWasWrittenMeanwhile(t *testing.T) {
	for name, written := range map[string]string{"nothing": "", "new file": "below/new", "changed file": "below/f"} {
		t.Run(name, func(t *testing.T) {
			s, dir := resumeTransfers(t, openStore(t)), t.TempDir()
			source := filepath.Join(dir, "from")
			write := func(path, text string) {
				t.Helper()
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Error(err)
				}
			}
			write(filepath.Join(source, "below", "f"), "text")
			write(filepath.Join(source, "g"), "text")
			s.Machines = func(context.Context, string) (api.Engine, error) {
				return writingEngine{s.own, func() {
					if written != "" {
						write(filepath.Join(source, written), "written")
					}
				}}, nil
			}
			in := api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: source, To: api.PathOn("box", filepath.Join(dir, "to"))}}}
			out, err := s.beginTransferBetween(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			job, err := s.getJob(t.Context(), api.FileJobInput{ID: out.Job, WaitMS: 60_000})
			if readText(t, filepath.Join(dir, "to", "below", "f")) != "text" {
				t.Errorf("the copy is incomplete: %+v, %v", job, err)
			}
			if written == "" {
				if entries, err := os.ReadDir(dir); err != nil || job.State != api.JobDone || len(entries) != 1 {
					t.Errorf("%+v; left are %v, %v", job, entries, err)
				}
				return
			}
			if job.State != api.JobFailed || !strings.Contains(job.Error, "changed during the move") {
				t.Errorf("the transfer is %+v, %v", job, err)
			}
			if readText(t, filepath.Join(source, written)) != "written" {
				t.Error("what was written is lost")
			}
			if _, err := os.Stat(filepath.Join(source, "g")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("what was moved is still there: %v", err)
			}
		})
	}
}
