package fleet

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// Another member can direct the hub's replies to this machine's inbox.
func TestMachineIgnoresForgedReplies(t *testing.T) {
	p := newPresence(User{Kind: KindMachine, Name: "box"}, &Machine{})
	p.rows["p"], p.rows["q"] = processRow{}, processRow{}
	p.dirty["p"] = true
	sent := p.dirtyMessages()[0].Reply
	wrong := []byte(`{"error":{"err_code":10071},"stream":"KV_tandem_processes"}`)
	stored := []byte(`{"stream":"KV_tandem_processes","seq":7}`)
	for _, subject := range []string{"0.q", "0.p", "1.p", "1.q"} {
		for _, answer := range [][]byte{wrong, stored} {
			p.handleStored(&nats.Msg{Subject: p.confirmSubject() + subject, Data: answer})
		}
	}
	if len(p.dirty) > 0 || len(p.sequences) > 0 || len(p.pending) != 1 {
		t.Errorf("after forged replies: dirty %v, stored %v, sent %v", p.dirty, p.sequences, p.pending)
	}
	p.handleStored(&nats.Msg{Subject: sent, Data: stored})
	if len(p.pending) > 0 || p.sequences["p"] != 7 {
		t.Errorf("after the hub's reply: stored %v, sent %v", p.sequences, p.pending)
	}
}
