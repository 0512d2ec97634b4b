package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

func TestRecordingHoldsOutputTimesAndSizes(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	before := time.Now().Add(-time.Second)
	p := call(m, api.SessionStart, api.SessionStartInput{Cols: 40, Rows: 10,
		Command: []string{"sh", "-c", `printf 'one\377\n'; read x; printf 'two\n'; read x; printf 'three\n'`}})
	until := func(text string) {
		zero := int64(0)
		call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Output: text, Since: &zero})
	}
	until("one")
	call(m, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: 50, Rows: 12})
	call(m, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Text: "\r"})
	until("two")
	now := call(m, api.SessionRecord, api.SessionRecordInput{ID: p.ID})
	if !strings.Contains(string(now.Repaint), "two") || now.Start != now.End || len(now.Sizes) != 1 || now.Sizes[0].Cols != 50 {
		t.Errorf("from now on: %+v", now)
	}
	call(m, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Text: "\r"})
	call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Exit: true})
	rest := call(m, api.SessionRecord, api.SessionRecordInput{ID: p.ID, Since: &now.NextCursor})
	if string(rest.Data) != "\r\nthree\r\n" || !rest.State.Ended() || rest.NextCursor != rest.End {
		t.Errorf("what came then: %+v, %q", rest, rest.Data)
	}
	zero := int64(0)
	all := call(m, api.SessionRecord, api.SessionRecordInput{ID: p.ID, Since: &zero})
	if want := "one\xff\r\n\r\ntwo\r\n\r\nthree\r\n"; string(all.Data) != want {
		t.Errorf("all is %q, want %q", all.Data, want)
	}
	want := []api.LogSize{{Offset: 0, Cols: 40, Rows: 10}, {Offset: 6, Cols: 50, Rows: 12}}
	if diff := cmp.Diff(want, all.Sizes); diff != "" {
		t.Errorf("sizes differ (-want +got):\n%s", diff)
	}
	if len(all.Times) == 0 || all.Times[0].Offset != 0 || all.Times[0].At.Before(before) || all.Times[0].At.After(time.Now()) {
		t.Errorf("times are %v", all.Times)
	}
	part := call(m, api.SessionRecord, api.SessionRecordInput{ID: p.ID, Since: &zero, Until: 5})
	if string(part.Data) != "one\xff\r" || part.NextCursor != 5 {
		t.Errorf("a part is %+v, %q", part, part.Data)
	}
}
