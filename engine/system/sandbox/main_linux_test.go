//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"testing"

	"tandem/tests/leaks"
)

// The test binary is also the launch stage and the confined program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "launch":
			if name := os.Getenv(kernelVariable); name != "" {
				if err := simulateKernel(name); err != nil {
					fmt.Fprintln(os.Stderr, "simulate a kernel:", err)
					os.Exit(1)
				}
			}
			fmt.Fprintln(os.Stderr, Launch(os.Args[2:]))
			os.Exit(126)
		case "probe":
			os.Exit(probe(os.Args[2:]))
		}
	}
	leaks.Main(m)
}
