// Package scope asks the user's systemd manager for a scope for a new keeper. Another program killed
// for lack of memory then ends neither the keeper nor its children.
package scope

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/godbus/dbus/v5"
)

// A Login holds the conditions for moving a process to a scope of the user's manager.
type Login struct {
	Cgroup    string // path of this process's cgroup (version 2) in its hierarchy, or ""
	UID       int
	Lingering bool   // whether the user's manager stays after the last logout
	Bus       string // path of the socket of the user's D-Bus, or ""
}

// Current returns the login of this process.
func Current() Login {
	l := Login{Cgroup: Of("self"), UID: os.Getuid(), Lingering: Lingering()}
	// Under su or sudo, the variable may name another user's directory.
	bus := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus")
	if info, err := os.Stat(bus); err == nil && filepath.IsAbs(bus) && info.Sys().(*syscall.Stat_t).Uid == uint32(l.UID) {
		l.Bus = bus
	}
	return l
}

// Lingering reports whether this user's manager starts at boot and stays after the last logout.
func Lingering() bool {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return false
	}
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", u.Username))
	return err == nil
}

// Of returns the path of a process's cgroup (version 2) in its hierarchy, or "" if it has none or
// cannot be read. process is a pid or "self".
func Of(process string) string {
	text, err := os.ReadFile(filepath.Join("/proc", process, "cgroup"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return path
		}
	}
	return ""
}

// MayMove reports whether a process may move to a scope of the user's manager without being killed
// earlier. Such a scope ends with the manager, which exits at the last logout unless lingering is on. A
// login's own scope usually outlives the logout.
func (l Login) MayMove() bool {
	return l.Bus != "" && l.Cgroup != "" && (l.Lingering || l.IsManaged())
}

// IsManaged reports whether the cgroup belongs to the user's manager, like that of a terminal in a
// graphical session.
func (l Login) IsManaged() bool {
	return slices.Contains(strings.Split(l.Cgroup, "/"), fmt.Sprintf("user@%d.service", l.UID))
}

// Unit returns the name of a cgroup's systemd unit, or "" if it has none.
func Unit(cgroup string) string {
	for _, name := range slices.Backward(strings.Split(cgroup, "/")) {
		if strings.HasSuffix(name, ".scope") || strings.HasSuffix(name, ".service") {
			return name
		}
	}
	return ""
}

// IsOwn reports whether a unit is a scope created by Move for the keeper of dataDir.
func IsOwn(unit, dataDir string) bool {
	rest, ok := strings.CutPrefix(unit, prefix(dataDir))
	return ok && strings.HasSuffix(rest, ".scope")
}

// prefix returns the beginning of the names of the scopes for a data directory. Engines with
// different ones may run side by side.
func prefix(dataDir string) string {
	sum := sha256.Sum256([]byte(dataDir))
	return fmt.Sprintf("tandem-%x", sum[:4])
}

// Await blocks a new keeper until its client has moved it. The client then closes the pipe that is
// the keeper's standard input. Without a pipe, Await returns at once.
func Await(stdin *os.File) {
	if info, err := stdin.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		_, _ = io.Copy(io.Discard, stdin) // an error ends the wait, too
	}
}

const (
	manager      = "org.freedesktop.systemd1"
	managerPath  = dbus.ObjectPath("/org/freedesktop/systemd1")
	managerClass = manager + ".Manager"
	jobRemoved   = "JobRemoved"
	unitExists   = manager + ".UnitExists"
)

// Move moves a process to a new scope of the user's manager and returns when it is there. It gives
// up after timeout. The process may still be moved after an error.
func (l Login) Move(dataDir string, pid int, timeout time.Duration) error {
	socket, err := net.DialTimeout("unix", l.Bus, timeout)
	if err != nil {
		return fmt.Errorf("reach the user manager: %w", err)
	}
	// The deadline ends every call below: the connection closes when reading from it fails.
	if err := socket.SetDeadline(time.Now().Add(timeout)); err != nil {
		socket.Close()
		return fmt.Errorf("reach the user manager: %w", err)
	}
	bus, err := dbus.NewConn(socket)
	if err != nil {
		socket.Close()
		return fmt.Errorf("reach the user manager: %w", err)
	}
	defer bus.Close()
	if err := move(bus, dataDir, pid); err != nil {
		return fmt.Errorf("create a scope: %w", err)
	}
	return nil
}

func move(bus *dbus.Conn, dataDir string, pid int) error {
	if err := bus.Auth(nil); err != nil {
		return err
	}
	if err := bus.Hello(); err != nil {
		return err
	}
	// Subscribed before the call, so that the signal is not missed. The channel is closed with the
	// connection.
	removed := make(chan *dbus.Signal, 64)
	bus.Signal(removed)
	if err := bus.AddMatchSignal(dbus.WithMatchSender(manager), dbus.WithMatchInterface(managerClass), dbus.WithMatchMember(jobRemoved)); err != nil {
		return err
	}
	name := prefix(dataDir) + ".scope"
	job, err := start(bus, name, pid)
	if failure := (dbus.Error{}); errors.As(err, &failure) && failure.Name == unitExists {
		// Programs that outlived an earlier keeper are still in that scope.
		name = fmt.Sprintf("%s-%d.scope", prefix(dataDir), pid)
		job, err = start(bus, name, pid)
	}
	if err != nil {
		return err
	}
	for signal := range removed {
		var id uint32
		var path dbus.ObjectPath
		var unit, result string
		if signal.Name != managerClass+"."+jobRemoved || dbus.Store(signal.Body, &id, &path, &unit, &result) != nil || path != job {
			continue
		}
		if result != "done" {
			return fmt.Errorf("%s: %s", unit, result)
		}
		return nil
	}
	return fmt.Errorf("%s: %w", name, os.ErrDeadlineExceeded)
}

// A property is a setting of a unit in a call of StartTransientUnit.
type property struct {
	Name  string
	Value dbus.Variant
}

// start asks for a scope and returns the job that moves the process. Because the scope is
// delegated, its OOMPolicy is "continue" by default: the kernel's choice of a process ends nothing
// else. Before systemd 253, a request that sets OOMPolicy of a scope is rejected.
func start(bus *dbus.Conn, name string, pid int) (job dbus.ObjectPath, err error) {
	properties := []property{
		{"Description", dbus.MakeVariant("Tandem's engine and programs")},
		{"Delegate", dbus.MakeVariant(true)},
		{"TasksMax", dbus.MakeVariant(uint64(math.MaxUint64))},
		{"CollectMode", dbus.MakeVariant("inactive-or-failed")},
		{"PIDs", dbus.MakeVariant([]uint32{uint32(pid)})},
	}
	auxiliary := []struct {
		Name       string
		Properties []property
	}{}
	call := bus.Object(manager, managerPath).Call(managerClass+".StartTransientUnit", dbus.FlagNoAutoStart, name, "fail", properties, auxiliary)
	return job, call.Store(&job)
}
