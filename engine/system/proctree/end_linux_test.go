package proctree

import (
	"os/exec"
	"testing"

	"tandem/persist/store"
)

func TestOnEndReportsExit(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, _ := Read(cmd.Process.Pid)
	boot, err := store.BootID()
	if err != nil {
		t.Fatal(err)
	}
	who := store.Identity{PID: cmd.Process.Pid, StartTime: p.StartTime, BootID: boot}
	ended := make(chan string, 4)
	OnEnd(who, func() { ended <- "first" })
	stop := OnEnd(who, func() { ended <- "stopped" })
	stop()
	stop()
	in.Close()
	if got := <-ended; got != "first" {
		t.Errorf("told is the %s", got)
	}
	_ = cmd.Wait()
	OnEnd(who, func() { ended <- "late" })
	if got := <-ended; got != "late" {
		t.Errorf("told is the %s", got)
	}
	who.StartTime++
	OnEnd(who, func() { ended <- "another" })
	if got := <-ended; got != "another" {
		t.Errorf("told is the %s", got)
	}
}
