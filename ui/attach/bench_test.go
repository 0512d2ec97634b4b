package attach

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

// BenchmarkEcho sends a key through the terminal, the attachment and an engine that echoes
// it at once, and reads the echo on the terminal.
func BenchmarkEcho(b *testing.B) {
	p := newPerson(b)
	e := newEngineStub(b, func(_ testing.TB, v *server.Viewer) error {
		if err := sendText(v, "ready>"); err != nil {
			return err
		}
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			if in.Bytes != nil {
				if err := v.Send(api.Output{Bytes: in.Bytes}); err != nil {
					return err
				}
			}
		}
	})
	go func() {
		outcome, _ := Run(context.Background(), Options{Client: e.client, ID: "work", In: p.slave, Out: p.slave})
		p.outcome <- outcome
	}()
	buffer := make([]byte, 4096)
	for seen := ""; len(seen) < 6 || seen[len(seen)-6:] != "ready>"; {
		n, err := p.keyboard.Read(buffer)
		if err != nil {
			b.Fatal(err)
		}
		seen += string(buffer[:n])
	}
	for b.Loop() {
		if _, err := p.keyboard.Write([]byte{'x'}); err != nil {
			b.Fatal(err)
		}
		if _, err := p.keyboard.Read(buffer); err != nil {
			b.Fatal(err)
		}
	}
	if err := unix.Kill(unix.Getpid(), unix.SIGTERM); err != nil {
		b.Fatal(err)
	}
	p.watchScreen()
	<-p.outcome
}
