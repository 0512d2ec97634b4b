package keeper

import "testing"

func TestStartIsDroppedIfItsEngineIsGone(t *testing.T) {
	gone, next := &session{outbox: newOutbox()}, &session{outbox: newOutbox()}
	k := &keeper{children: map[string]*child{}, byPID: map[int]*child{}, starting: map[string]struct{}{}, engine: engine{session: next}}
	spec := Spec{ID: "a", Dir: t.TempDir(), Argv: []string{"true"}}
	l, master, err := prepare(spec)
	if err != nil {
		t.Fatal(err)
	}
	k.forkChild(gone, 1, &spec, l, master, nil)
	p, _ := gone.outbox.next()
	m, _, err := decode(p.body, p.fds)
	if err != nil || m.Error == "" || len(k.children) != 0 {
		t.Errorf("answered %+v, %v with %d children", m, err, len(k.children))
	}
}
