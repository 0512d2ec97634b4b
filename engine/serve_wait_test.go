package engine

import (
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// The time may be over before the control loop, which is busy, has found it.
func TestAWaitWhoseTimeIsOverAtOnceTellsOfTheProcess(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	withRig(t, func(r *rig) {
		p := r.running("a")
		h := &host{store: data, control: r.c}
		r.c.box.Post(func() { time.Sleep(time.Second) })
		out, err := h.processWait(r.Context(), api.ProcessWaitInput{ID: p.ID, Exit: true, TimeoutMS: 1})
		if err != nil || out.Met != "" || out.Process.ID != p.ID {
			t.Errorf("it came to %+v, %v", out, err)
		}
	})
}
