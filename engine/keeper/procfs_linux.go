package keeper

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A procStat is what the keeper needs of /proc/<pid>/stat, see
// proc_pid_stat(5).
type procStat struct {
	state     byte   // field 3, 'Z' for a zombie
	startTime uint64 // field 22, clock ticks since boot
	exitCode  int    // field 52, a wait status; 0 for those who may not know it
}

func readStat(pid int) (procStat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, err
	}
	return parseStat(b)
}

// parseStat skips the command's name, which may hold spaces and parentheses, by
// looking for the last parenthesis.
func parseStat(b []byte) (procStat, error) {
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	const first, state, start, exit = 3, 3, 22, 52
	if len(fields) <= exit-first || len(fields[state-first]) != 1 {
		return procStat{}, errors.New("process status has too few fields")
	}
	startTime, err := strconv.ParseUint(fields[start-first], 10, 64)
	if err != nil {
		return procStat{}, fmt.Errorf("read start time of a process: %v", err)
	}
	code, err := strconv.Atoi(fields[exit-first])
	if err != nil {
		return procStat{}, fmt.Errorf("read exit status of a process: %v", err)
	}
	return procStat{fields[state-first][0], startTime, code}, nil
}

func readBootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %v", err)
	}
	return strings.TrimSpace(string(b)), nil
}
