package keeper

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitMemory trades a little speed, of which the keeper needs none, for a small
// process.
func limitMemory() (restore func()) {
	percent := debug.SetGCPercent(50)
	limit := debug.SetMemoryLimit(32 << 20) // returns what a large message took
	procs := runtime.GOMAXPROCS(1)          // what is woken to help costs more than it does
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
		runtime.GOMAXPROCS(procs)
	}
}

// releaseMemory gives back what the keeper does not need while it only waits.
func releaseMemory() {
	debug.FreeOSMemory()
	releaseProgram()
}

// releaseProgram unmaps the pages of the executable and its libraries. Starting
// has touched many, most of them other roles' business; what is needed again
// comes back from the page cache. Mappings that may differ from their file are
// left alone. Failing costs nothing but memory.
func releaseProgram() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	var start, end uint64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if from, to, ok := readOnlyMapping(line); ok {
			start, end = from, to
		}
		if size, ok := strings.CutPrefix(line, "Anonymous:"); ok {
			if strings.TrimSpace(size) == "0 kB" && end > start {
				_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), unix.MADV_DONTNEED)
			}
			start, end = 0, 0
		}
	}
}

// readOnlyMapping reads the head of a file's entry in proc_pid_smaps(5).
func readOnlyMapping(line string) (start, end uint64, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 || !strings.HasPrefix(fields[5], "/") || strings.Contains(fields[1], "w") {
		return 0, 0, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	start, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return 0, 0, false
	}
	end, err = strconv.ParseUint(to, 16, 64)
	return start, end, err == nil
}
