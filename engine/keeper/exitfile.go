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

// writeExit puts exit.json into dir: whichever process of ours dies, it is there
// whole, or not at all. It does not wait for the disk, which only a loss of power
// would show; the status is then unknown. With hurry set that is so for a moment,
// else for as long as the kernel keeps what is written in memory.
func writeExit(dir string, e exitFile, hurry bool) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "exit.json")
	temp := path + ".tmp"
	err = writeFile(temp, append(body, '\n'), hurry)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("write exit status: %w", err)
	}
	return nil
}

// writeFile writes a small file; with hurry set, the kernel begins to put it on
// disk.
func writeFile(path string, body []byte, hurry bool) error {
	fd, err := openFD(path, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	n, err := unix.Write(fd, body)
	for err == unix.EINTR {
		n, err = unix.Write(fd, body)
	}
	if err == nil && n < len(body) {
		err = unix.ENOSPC
	}
	if err == nil && hurry {
		beginWriteback(fd)
	}
	return err
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
