package keeper

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandem/persist/regular"
)

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

// writeExit writes exit.json to dir atomically. It does not wait for the disk: after a power
// failure the file may be missing and the exit unknown. With writeback set, the kernel starts to write
// it at once.
func writeExit(dir string, e exitFile, writeback bool) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "exit.json")
	temp := path + ".tmp"
	err = writeFile(temp, append(body, '\n'), writeback)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("write exit status: %w", err)
	}
	return nil
}

// writeFile writes a small file. With writeback set, the kernel starts to write it to disk.
func writeFile(path string, body []byte, writeback bool) error {
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
	if err == nil && writeback {
		beginWriteback(fd)
	}
	return err
}

// readExit returns the exit recorded in dir for the process with this identity.
func readExit(dir string, id identity) (Exit, bool) {
	body, err := regular.ReadFile(filepath.Join(dir, "exit.json"))
	if err != nil {
		return Exit{}, false
	}
	var e exitFile
	if json.Unmarshal(body, &e) != nil || e.Identity != id {
		return Exit{}, false
	}
	return e.Exit, true
}

// exitFromStatus converts a wait status, see wait(2).
func exitFromStatus(ws syscall.WaitStatus) Exit {
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

// String returns a description such as "exit status 1".
func (e Exit) String() string {
	switch {
	case e.Code != nil:
		return fmt.Sprintf("exit status %d", *e.Code)
	case e.Signal != "":
		return "killed by " + e.Signal
	}
	return "unknown exit status"
}
