package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// The time may be over before the control loop, which is busy, has found it.
func TestAWaitWhoseTimeIsOverAtOnceTellsOfTheProcess(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	withLoop(t, func(r *loop) {
		p := r.running(record("a"))
		h := &host{store: data, control: r.c}
		go r.c.Visit(r.Context(), func(supervise.Entry) { time.Sleep(time.Second) })
		synctest.Wait()
		out, err := h.processWait(r.Context(), api.ProcessWaitInput{ID: p.ID, Exit: true, TimeoutMS: 1})
		if err != nil || out.Met != "" || out.Process.ID != p.ID {
			t.Errorf("it came to %+v, %v", out, err)
		}
	})
}
