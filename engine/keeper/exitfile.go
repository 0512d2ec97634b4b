package keeper

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An exitFile is the content of exit.json.
type exitFile struct {
	Schema   int      `json:"schema"`
	Identity identity `json:"identity"`
	Exit
	ExitedAt time.Time `json:"exited_at"`
}

type identity struct {
	BootID    string `json:"boot_id"`
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"`
}

const exitSchema = 1

func (c Child) identity() identity { return identity{c.BootID, c.PID, c.StartTime} }

// writeExit puts exit.json into dir so that it is there whole, or not, after any
// crash.
func writeExit(dir string, e exitFile) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "exit.json")
	temp := path + ".tmp"
	if err := writeSync(temp, append(body, '\n')); err != nil {
		os.Remove(temp)
		return fmt.Errorf("write exit status: %v", err)
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return fmt.Errorf("write exit status: %v", err)
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("write exit status: %v", err)
	}
	return nil
}

func writeSync(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(body); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// readExit gives the exit that dir holds of the process with this identity.
func readExit(dir string, id identity) (Exit, bool) {
	body, err := os.ReadFile(filepath.Join(dir, "exit.json"))
	if err != nil {
		return Exit{}, false
	}
	var e exitFile
	if json.Unmarshal(body, &e) != nil || e.Identity != id {
		return Exit{}, false
	}
	return e.Exit, true
}

// exitOf translates a wait status, see wait(2).
func exitOf(ws syscall.WaitStatus) Exit {
	switch {
	case ws.Exited():
		code := ws.ExitStatus()
		return Exit{Code: &code}
	case ws.Signaled():
		return Exit{Signal: signalName(ws.Signal())}
	}
	return Exit{Unknown: true}
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIGNAL %d", int(s))
}

// String says how a process ended, for people.
func (e Exit) String() string {
	switch {
	case e.Code != nil:
		return fmt.Sprintf("exit status %d", *e.Code)
	case e.Signal != "":
		return "killed by " + e.Signal
	}
	return "unknown exit status"
}
