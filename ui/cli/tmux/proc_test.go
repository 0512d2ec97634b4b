package tmux

import "testing"

func TestDevicePathNamesTheTerminal(t *testing.T) {
	for device, want := range map[int]string{0: "", 0x8805: "/dev/pts/5", 0x108803: "/dev/pts/259", 0x401: "/dev/tty1", 0x440: "", 0x501: ""} {
		if got := devicePath(device); got != want {
			t.Errorf("device %x is %q, not %q", device, got, want)
		}
	}
}
