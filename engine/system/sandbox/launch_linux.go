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

// Launch is the launch stage. args follow "launch" in Command: the profile's path, a umask, "--", a
// program and its arguments. It confines this process (unless there is no profile) and becomes the
// program, found in PATH. It therefore returns only with an error, and then nothing was started:
// the caller reports it and exits with status 126, or 127 if there is no such program.
//
// Call it in the environment made by Environ, before starting other goroutines.
func Launch(args []string) error {
	if len(args) < 4 || args[2] != "--" {
		return errors.New("launch: usage: launch PROFILE UMASK -- COMMAND…")
	}
	path, argv := args[0], args[3:]
	if err := setUmask(args[1]); err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	own, env := splitEnviron(os.Environ())
	if err := checkLoader(own, isDynamic()); err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	program, err := findProgram(argv[0], env)
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	if path != "" {
		// Confinement applies to the thread, which becomes the process when it executes the
		// program.
		runtime.LockOSThread()
		if err := confineProcess(path); err != nil {
			return fmt.Errorf("launch %s: %w", argv[0], err)
		}
	}
	return fmt.Errorf("launch %s: %w", argv[0], execute(program, argv, env))
}

// splitEnviron separates the launch stage's own variables from the program's.
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

// checkLoader returns an error if the dynamic linker may have been told to run other code in this
// process: that code would have run unconfined.
func checkLoader(own []string, dynamic bool) error {
	for _, pair := range own {
		name, _, _ := strings.Cut(pair, "=")
		if dynamic && (strings.HasPrefix(name, "LD_") || name == "GLIBC_TUNABLES") {
			return fmt.Errorf("%s is set, and this program is dynamically linked: what it loads would run outside the sandbox; unset it, or build with CGO_ENABLED=0", name)
		}
	}
	return nil
}

// isDynamic reports whether a dynamic linker has loaded this program: then it has an address
// (getauxval(3), AT_BASE).
func isDynamic() bool {
	const atBase = 7
	values, err := unix.Auxv()
	return err != nil || slices.ContainsFunc(values, func(v [2]uintptr) bool { return v[0] == atBase && v[1] != 0 })
}

// findProgram finds a program in the PATH of its future environment.
func findProgram(name string, env []string) (string, error) {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, "PATH="); ok {
			if err := os.Setenv("PATH", value); err != nil { // of this process, which does not need it any more
				return "", err
			}
			break
		}
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil // PATH contains "."
	}
	var execErr *exec.Error
	if errors.As(err, &execErr) {
		return "", fmt.Errorf("%q: %w", name, execErr.Err)
	}
	return path, err
}

// findGuarded returns the directories deciding how processes are started: the profile's own, and
// the data directory around it.
func findGuarded(profile string) []string {
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

// confineProcess applies the layers of a profile file to the calling thread.
func confineProcess(path string) error {
	l, err := LoadLayers(path)
	if err != nil {
		return err
	}
	c, err := l.confinement(os.Getenv(proxyVariable), findGuarded(path)...)
	if err != nil {
		return err
	}
	defer c.close()
	// Descriptors left open by accident must not be inherited.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	if err := setLimits(l.limits()); err != nil {
		return err
	}
	if err := c.apply(); err != nil {
		return err
	}
	// After everything else, which may need more memory.
	return limitMemory(l.limits())
}

// execute becomes the program. A script without #! is run by sh, as with execvp(3).
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
