package machines

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

func TestFilesAreCopiedBetweenMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		box, slow := w.own.far["box"], w.own.far["slow"]
		at := func(context.Context) {}
		w.own.setFiles(map[string]string{}, at)
		large := strings.Repeat("x", pieceSize+5)
		box.setFiles(map[string]string{"/large": large, "/empty": "", "/both": "mine"}, at)
		slow.setFiles(map[string]string{"/both": "theirs"}, at)
		box.events <- snapshot()
		slow.events <- snapshot()
		synctest.Wait()
		e := w.WrapEngine(w.own)
		do := func(kind, conflict string, names ...string) (api.FilesTransferOutput, api.FileJob) {
			in := api.FilesTransferInput{Kind: kind, Conflict: conflict}
			for _, name := range names {
				in.Items = append(in.Items, api.FileMove{Path: "/box:/" + name, To: "/slow:/" + name})
			}
			out, err := e.Transfer(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if out.Job == "" {
				return out, api.FileJob{}
			}
			job, err := e.TransferJob(t.Context(), out.Job, 1000)
			if err != nil {
				t.Fatal(err)
			}
			return out, job
		}
		if _, job := do(api.TransferMove, "", "large", "empty"); job.State != api.JobDone || len(job.Done) != 2 || job.Bytes != int64(len(large)) || job.Total != job.Bytes {
			t.Errorf("moved: %+v", job)
		}
		if slow.files["/large"] != large || len(box.files) != 1 {
			t.Errorf("on box %v, on slow %v", slices.Collect(maps.Keys(box.files)), slices.Collect(maps.Keys(slow.files)))
		}
		if out, _ := do(api.TransferCopy, "", "both"); len(out.Conflicts) != 1 || out.Conflicts[0] != "/slow:/both" {
			t.Errorf("in the way: %+v", out)
		}
		if _, job := do(api.TransferCopy, api.ConflictSkip, "both"); job.Skipped != 1 || slow.files["/both"] != "theirs" {
			t.Errorf("skipped: %+v", job)
		}
		if _, job := do(api.TransferCopy, api.ConflictKeep, "both"); len(job.Done) != 1 || job.Done[0].To != "/slow:/both (2)" || slow.files["/both (2)"] != "mine" {
			t.Errorf("kept: %+v", job)
		}
		if _, err := e.Transfer(t.Context(), api.FilesTransferInput{Kind: api.TransferPack, Items: []api.FileMove{{Path: "/box:/both", To: "/slow:/a.zip"}}}); err == nil {
			t.Error("packed from one machine to another")
		}
	})
}

func TestTransferFailsNamingMachineThatWentOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		box := w.own.far["box"]
		w.own.setFiles(map[string]string{"/f": "text"}, func(context.Context) {})
		box.setFiles(map[string]string{}, func(ctx context.Context) { <-ctx.Done() })
		box.events <- snapshot()
		synctest.Wait()
		e := w.WrapEngine(w.own)
		move := api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: "/f", To: "/box:/f"}}}
		out, err := e.Transfer(t.Context(), move)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.setState("box", api.MachineAway)
		job, err := e.TransferJob(t.Context(), out.Job, 1000)
		if err != nil || job.State != api.JobFailed || !strings.HasPrefix(job.Error, "box: away") {
			t.Errorf("%+v, %v", job, err)
		}
		if _, whole := box.files["/f"]; whole || w.own.files["/f"] != "text" {
			t.Error("what is not whole has its name, or the file is gone")
		}
		w.setState("box", api.MachineConnected)
		time.Sleep(listInterval)
		synctest.Wait()
		if len(box.files) != 0 {
			t.Errorf("left when the machine is back: %v", box.files)
		}
		if out, err = e.Transfer(t.Context(), move); err != nil {
			t.Fatal(err)
		}
		if err := e.CancelTransfer(t.Context(), out.Job); err != nil {
			t.Fatal(err)
		}
		if job, err = e.TransferJob(t.Context(), out.Job, 1000); err != nil || job.State != api.JobCancelled {
			t.Errorf("%+v, %v", job, err)
		}
	})
}

// A piece that arrived before its link was lost is not written twice.
func TestTransferResumesOverNextLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestSet(t)
		box, pieces := w.own.far["box"], 0
		large := strings.Repeat("x", 2*pieceSize) + "end"
		w.own.setFiles(map[string]string{"/f": large}, func(context.Context) {})
		box.setFiles(map[string]string{}, func(ctx context.Context) {
			if pieces++; pieces < 3 {
				<-ctx.Done()
			}
		})
		box.events <- snapshot()
		synctest.Wait()
		e := w.WrapEngine(w.own)
		out, err := e.Transfer(t.Context(), api.FilesTransferInput{Kind: api.TransferCopy, Items: []api.FileMove{{Path: "/f", To: "/box:/f"}}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			synctest.Wait()
			w.setState("box", api.MachineConnecting)
			w.setState("box", api.MachineConnected)
			time.Sleep(maxWait)
		}
		job, err := e.TransferJob(t.Context(), out.Job, 1000)
		if err != nil || job.State != api.JobDone || box.files["/f"] != large || len(box.files) != 1 {
			t.Errorf("%+v, %v; %d bytes of %d", job, err, len(box.files["/f"]), len(large))
		}
	})
}
