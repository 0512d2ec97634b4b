//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Confinement works out what confines a process that is about to be started, all
// but limits, or tells what prevents it. What is closed or denied in a folder is
// looked up now, so it is for one start. proxyURL is the process's way out, which
// not all layers need; guarded is as with Check.
func (l Layers) Confinement(proxyURL string, guarded ...string) (*Confinement, error) {
	k := currentKernel()
	if err := k.check(l); err != nil {
		return nil, err
	}
	port, err := proxyPort(l, proxyURL)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	sets, unreadable, err := rulesFor(l, k, port, guarded)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	c := &Confinement{unreadable: unreadable}
	for _, set := range sets {
		c.Rulesets = append(c.Rulesets, set.fd)
	}
	c.Flags = logFlags(k)
	c.Filter = inMemory(compile(refusalsFor(l.network(), k, specialModes(os.Geteuid() == 0))))
	c.Keep = keptCapabilities()
	c.Write = writing & sets[0].handled
	c.Read = unix.LANDLOCK_ACCESS_FS_READ_FILE
	return c, nil
}

// Readable tells whether a process could read a file. What cannot be told is not.
func (c *Confinement) Readable(path string) bool {
	resolved, err := resolve(path)
	return err == nil && !withinAny(resolved, c.unreadable)
}

// logFlags have refusals of the program itself logged where the kernel logs any.
func logFlags(k kernel) uint32 {
	if k.landlock < landlockLog {
		return 0
	}
	return unix.LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON
}

func proxyPort(l Layers, proxyURL string) (uint16, error) {
	if !l.NeedsProxy() {
		return 0, nil
	}
	address, _, ok := splitURL(proxyURL)
	_, text, err := net.SplitHostPort(address)
	port, convErr := strconv.ParseUint(text, 10, 16)
	if !ok || err != nil || convErr != nil || port == 0 {
		return 0, errors.New("allowedDomains needs the engine's proxy, and its address was not given")
	}
	return uint16(port), nil
}
