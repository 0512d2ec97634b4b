package copy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

// A fakeEngine is an engine with files in memory. Every folder exists.
type fakeEngine struct {
	files map[string]string
	// before and after each call may make it fail.
	before, after func(ctx context.Context, operation string) error
}

func newFakeEngine(files map[string]string) *fakeEngine {
	at := func(context.Context, string) error { return nil }
	return &fakeEngine{files, at, at}
}

func (f *fakeEngine) Do(ctx context.Context, name string, _ api.Effect, in, out any) error {
	err := f.before(ctx, name)
	if err == nil {
		err = f.call(in, out)
	}
	if err == nil {
		err = f.after(ctx, name)
	}
	return err
}

func (f *fakeEngine) call(in, out any) error {
	switch in := in.(type) {
	case api.FilesPathInput:
		text, ok := f.files[in.Path]
		switch {
		case in.Path == "/":
			*out.(*api.FileInfo) = api.FileInfo{Path: in.Path, Type: "dir", ID: "root"}
			return nil
		case !ok:
			return api.Errorf(api.CodeNotFound, "stat %s: no such file", in.Path)
		}
		*out.(*api.FileInfo) = api.FileInfo{Path: in.Path, Type: "file", Size: int64(len(text)), Mode: "0640", Modified: time.Unix(1, 0)}
	case api.FilesReadInput:
		text := f.files[in.Path]
		out.(*api.FilesReadOutput).Text = text[in.Offset:min(in.Offset+in.Limit, int64(len(text)))]
	case api.FilesWriteInput:
		if has, found := f.files[in.Path]; in.New && found || in.At != nil && *in.At != int64(len(has)) {
			return api.Errorf(api.CodeConflict, "it has %d bytes", len(has))
		}
		f.files[in.Path] += string(in.Data)
	case api.FilesMkdirInput:
		*out.(*api.FileInfo) = api.FileInfo{Path: in.Path, Type: "dir", ID: "new"}
	case api.FilesSetInput:
		if in.Mode == "0700" && strings.HasSuffix(in.Path, ".tmp") {
			return nil
		}
		if in.Mode != "0640" || !in.Modified.Equal(time.Unix(1, 0)) {
			return errors.New("mode and time are not those of the file")
		}
	case api.FilesMoveInput:
		f.files[in.To] = f.files[in.Path]
		delete(f.files, in.Path)
	case api.FilesDeleteInput:
		maps.DeleteFunc(f.files, func(path, _ string) bool { return path == in.Path || strings.HasPrefix(path, in.Path+"/") })
	}
	return nil
}

// machines are the engines that transfers reach; that of "" is this machine's.
type machines map[string]*fakeEngine

// begin returns a transfer of names from one machine to another. Its tasks end with the test.
func (all machines) begin(t *testing.T, kind, conflict, from, to string, names ...string) *Transfer {
	t.Helper()
	var tasks sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); tasks.Wait() })
	transfer := &Transfer{
		Kind: kind, Conflict: conflict,
		Open:  func(_ context.Context, machine string) (api.Engine, error) { return all[machine], nil },
		Start: func(task func(context.Context)) { tasks.Go(func() { task(ctx) }) },
	}
	for _, name := range names {
		transfer.Items = append(transfer.Items, api.FileMove{Path: api.PathOn(from, "/"+name), To: api.PathOn(to, "/"+name)})
	}
	return transfer
}

// follow returns the function that makes job the progress of a transfer.
func follow(job *api.FileJob) func(func(*api.FileJob)) {
	return func(change func(*api.FileJob)) { change(job) }
}

func TestFilesAreTransferredBetweenMachines(t *testing.T) {
	large := strings.Repeat("x", pieceSize+5)
	box := newFakeEngine(map[string]string{"/large": large, "/empty": "", "/both": "mine"})
	slow := newFakeEngine(map[string]string{"/both": "theirs"})
	all := machines{"box": box, "slow": slow}
	run := func(kind, conflict string, names ...string) (job api.FileJob) {
		if err := all.begin(t, kind, conflict, "box", "slow", names...).Run(t.Context(), follow(&job)); err != nil {
			t.Error(err)
		}
		return job
	}
	if job := run(api.TransferMove, "", "large", "empty"); len(job.Done) != 2 || job.Bytes != int64(len(large)) || job.Total != job.Bytes {
		t.Errorf("moved: %d of %d bytes, %+v", job.Bytes, job.Total, job.Done)
	}
	if slow.files["/large"] != large || len(box.files) != 1 {
		t.Errorf("on box %v, on slow %v", slices.Collect(maps.Keys(box.files)), slices.Collect(maps.Keys(slow.files)))
	}
	for name, want := range map[string]bool{"/slow:/both": true, "/box:/large": false} {
		if there, err := all.begin(t, api.TransferCopy, "", "box", "slow").Exists(t.Context(), name); err != nil || there != want {
			t.Errorf("%s: exists: %v, %v", name, there, err)
		}
	}
	if job := run(api.TransferCopy, api.ConflictSkip, "both"); job.Skipped != 1 || slow.files["/both"] != "theirs" {
		t.Errorf("skipped: %+v", job)
	}
	if job := run(api.TransferCopy, api.ConflictKeep, "both"); len(job.Done) != 1 || job.Done[0].To != "/slow:/both (2)" || slow.files["/both (2)"] != "mine" {
		t.Errorf("kept: %+v", job)
	}
}

func TestTransferFailsNamingMachineThatWentOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, box := newFakeEngine(map[string]string{"/f": "text"}), newFakeEngine(map[string]string{})
		var offline atomic.Bool
		box.before = func(context.Context, string) error {
			if offline.Load() {
				return api.Errorf(api.CodeUnavailable, "reach machine box: it is offline").WithReason(api.ReasonMachineOffline)
			}
			return nil
		}
		box.after = func(_ context.Context, operation string) error {
			if operation != api.FilesWrite.Name {
				return nil
			}
			offline.Store(true)
			return api.Errorf(api.CodeUnavailable, "lost the machine box")
		}
		transfer := machines{"": own, "box": box}.begin(t, api.TransferMove, "", "", "box", "f")
		if err := transfer.Run(t.Context(), follow(new(api.FileJob))); err == nil || !strings.Contains(err.Error(), "machine box: it is offline") {
			t.Errorf("failed with %v", err)
		}
		if _, whole := box.files["/f"]; whole || len(box.files) != 1 || own.files["/f"] != "text" {
			t.Error("what is not whole has its name, or the file is gone")
		}
		offline.Store(false)
		time.Sleep(firstCleanUpWait)
		synctest.Wait()
		if len(box.files) != 0 {
			t.Errorf("left when the machine is back: %v", box.files)
		}
	})
}

func TestCancelledTransferLeavesNothing(t *testing.T) {
	own, box := newFakeEngine(map[string]string{"/f": "text"}), newFakeEngine(map[string]string{})
	ctx, cancel := context.WithCancel(t.Context())
	box.after = func(ctx context.Context, operation string) error {
		if operation == api.FilesWrite.Name {
			cancel()
		}
		return ctx.Err()
	}
	transfer := machines{"": own, "box": box}.begin(t, api.TransferMove, "", "", "box", "f")
	if err := transfer.Run(ctx, follow(new(api.FileJob))); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if len(box.files) != 0 || own.files["/f"] != "text" {
		t.Errorf("on box %v, here %v", box.files, own.files)
	}
}

// A piece that arrived before its link was lost is not written twice.
func TestTransferResumesOverNextLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := strings.Repeat("x", 2*pieceSize) + "end"
		own, box := newFakeEngine(map[string]string{"/f": large}), newFakeEngine(map[string]string{})
		lost, calls := api.Errorf(api.CodeUnavailable, "lost the machine"), 0
		box.after = func(_ context.Context, operation string) error {
			if calls++; operation == api.FilesWrite.Name && calls%2 == 0 {
				return lost
			}
			return nil
		}
		reads := 0
		own.before = func(context.Context, string) error {
			if reads++; reads%2 == 0 {
				return lost
			}
			return nil
		}
		var job api.FileJob
		transfer := machines{"": own, "box": box}.begin(t, api.TransferCopy, "", "", "box", "f")
		if err := transfer.Run(t.Context(), follow(&job)); err != nil || job.Bytes != int64(len(large)) || box.files["/f"] != large || len(box.files) != 1 {
			t.Errorf("%v; %d bytes of %d arrived, on box are %d files", err, len(box.files["/f"]), len(large), len(box.files))
		}
	})
}

// An endless machine has a folder of one name in each folder.
type endless struct{ name string }

func (e endless) Do(_ context.Context, _ string, _ api.Effect, in, out any) error {
	switch out := out.(type) {
	case *api.FileInfo:
		*out = api.FileInfo{Type: "dir", ID: "folder"}
	case *api.FilesListOutput:
		out.Entries = []api.FileInfo{{Name: e.name, Type: "dir"}}
	}
	return nil
}

func TestEndlessFolderIsNotCopied(t *testing.T) {
	for name, want := range map[string]string{
		"d": "copy /box:/f: it has more than 512 levels of folders",
		".": `the machine sent "." as the name of a file`,
	} {
		own := newFakeEngine(map[string]string{})
		transfer := machines{"": own}.begin(t, api.TransferCopy, "", "box", "", "f")
		transfer.Open = func(_ context.Context, machine string) (api.Engine, error) {
			if machine == "" {
				return own, nil
			}
			return endless{name}, nil
		}
		if err := transfer.Run(t.Context(), follow(new(api.FileJob))); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
		if len(own.files) > 0 {
			t.Errorf("%q: left are %v", name, own.files)
		}
	}
}
