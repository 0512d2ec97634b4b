//go:build !linux || !(amd64 || arm64)

package sandbox

import "fmt"

func currentKernel() kernel {
	return kernel{landlockErr: errPlatform, seccomp: errPlatform}
}

func checkPaths(Layers, []string) error {
	return errPlatform
}

// Launch confines this process and becomes the given program, which cannot be
// done here.
func Launch([]string) error {
	return fmt.Errorf("launch: %w", errPlatform)
}

// ConfineThread holds the calling thread to what the layers say of files, which
// cannot be done here.
func (l Layers) ConfineThread(...string) error {
	return fmt.Errorf("sandbox: %w", errPlatform)
}

// Confinement works out what confines a process that is about to be started,
// which cannot be done here.
func (l Layers) Confinement(string, ...string) (*Confinement, error) {
	return nil, fmt.Errorf("sandbox: %w", errPlatform)
}

// Readable tells whether a process could read a file.
func (c *Confinement) Readable(string) bool { return false }
