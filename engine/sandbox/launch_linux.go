//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Launch is the launch stage. args are what follows "launch" in Command:
// the profile's path, a umask, "--", a program and its arguments. It confines this
// process (unless there is no profile) and becomes the program, looked up in PATH, so it returns only with an
// error, and then nothing was started: the caller reports it and exits with
// status 126, or 127 if there is no such program.
//
// It must be called before other goroutines run that matter, in the environment
// that Environ makes.
func Launch(args []string) error {
	if len(args) < 4 || args[2] != "--" {
		return errors.New("launch: usage: launch PROFILE UMASK -- COMMAND…")
	}
	path, argv := args[0], args[3:]
	if err := setUmask(args[1]); err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	own, env := splitEnviron(os.Environ())
	if err := checkLoader(own, dynamicallyLinked()); err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	program, err := lookUp(argv[0], env)
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	if path != "" {
		// This confines the thread, which becomes the process when it executes the program.
		runtime.LockOSThread()
		if err := confine(path); err != nil {
			return fmt.Errorf("launch %s: %w", argv[0], err)
		}
	}
	return fmt.Errorf("launch %s: %w", argv[0], execute(program, argv, env))
}

// splitEnviron tells the launch stage's own variables from those of the program.
func splitEnviron(all []string) (own, env []string) {
	for _, pair := range all {
		if passed, ok := strings.CutPrefix(pair, ChildPrefix); ok {
			env = append(env, passed)
		} else {
			own = append(own, pair)
		}
	}
	return own, env
}

// checkLoader refuses to go on where the dynamic linker may have been told to
// run somebody's code in this process: that would not have been confined.
func checkLoader(own []string, dynamic bool) error {
	for _, pair := range own {
		name, _, _ := strings.Cut(pair, "=")
		if dynamic && (strings.HasPrefix(name, "LD_") || name == "GLIBC_TUNABLES") {
			return fmt.Errorf("%s is set, and this program is dynamically linked: what it loads would run outside the sandbox; unset it, or build with CGO_ENABLED=0", name)
		}
	}
	return nil
}

// dynamicallyLinked tells whether a dynamic linker has loaded this program: then
// it has an address (getauxval(3), AT_BASE).
func dynamicallyLinked() bool {
	const atBase = 7
	values, err := unix.Auxv()
	return err != nil || slices.ContainsFunc(values, func(v [2]uintptr) bool { return v[0] == atBase && v[1] != 0 })
}

// lookUp finds a program in the PATH that it is to have.
func lookUp(name string, env []string) (string, error) {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, "PATH="); ok {
			if err := os.Setenv("PATH", value); err != nil { // of this process, which has no other use for it
				return "", err
			}
			break
		}
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil // PATH says so
	}
	var execErr *exec.Error
	if errors.As(err, &execErr) {
		return "", fmt.Errorf("%q: %w", name, execErr.Err)
	}
	return path, err
}

// guardedBy are the folders from which processes are started: the profile's
// own, and the data folder around it.
func guardedBy(profile string) []string {
	absolute, err := filepath.Abs(profile)
	if err != nil {
		return nil
	}
	guarded := []string{filepath.Dir(absolute)}
	if data := os.Getenv(dataVariable); filepath.IsAbs(data) {
		guarded = append(guarded, data)
	}
	return guarded
}

// setUmask sets the file mode creation mask, unless the octal text is empty.
func setUmask(text string) error {
	if text == "" {
		return nil
	}
	mask, err := strconv.ParseUint(text, 8, 9)
	if err != nil {
		return fmt.Errorf("umask %q is not octal, 0000 to 0777", text)
	}
	unix.Umask(int(mask))
	return nil
}

// confine applies the layers of a profile file to the calling thread, or returns what prevents it.
func confine(path string) error {
	l, err := LoadLayers(path)
	if err != nil {
		return err
	}
	c, err := l.confinement(os.Getenv(proxyVariable), guardedBy(path)...)
	if err != nil {
		return err
	}
	defer c.close()
	// Nothing that was open by accident is inherited.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	if err := setLimits(l.limits()); err != nil {
		return err
	}
	if err := c.apply(); err != nil {
		return err
	}
	return limitMemory(l.limits())
}

// execute becomes the program. A script without #! goes to sh, as with execvp(3).
func execute(program string, argv, env []string) error {
	err := unix.Exec(program, argv, env)
	if err == unix.ENOEXEC {
		err = unix.Exec("/bin/sh", append([]string{"/bin/sh", program}, argv[1:]...), env)
	}
	if err == unix.EACCES {
		return fmt.Errorf("%s cannot be executed; its profile may deny reading it: %w", program, err)
	}
	return fmt.Errorf("%s: %w", program, err)
}
