package pty

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadIntoTruncatedMappingFails(t *testing.T) {
	master, slave := open(t)
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 16); err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(int(f.Fd()), 0, 1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := slave.WriteString("kept"); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBurst(master, mapped); !errors.Is(err, unix.EFAULT) {
		t.Errorf("ReadBurst returned %v, want %v", err, unix.EFAULT)
	}
	buffer := make([]byte, 100)
	if n, err := ReadBurst(master, buffer); string(buffer[:n]) != "kept" {
		t.Errorf("afterwards, it read %q, %v", buffer[:n], err)
	}
}
