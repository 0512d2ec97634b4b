package pty

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// PipeReader returns the process that is blocked reading the FIFO at path: child, or a process it
// started in its group; 0 if none is.
func PipeReader(path string, child int) int {
	var pipe unix.Stat_t
	if err := unix.Stat(path, &pipe); err != nil {
		return 0
	}
	input := foreground{canonical: true, echo: true, pipe: &pipe}
	for _, pid := range GroupMembers(child, child) {
		if input.waitKindOf(pid) != waitsNot {
			return pid
		}
	}
	return 0
}

// AwaitsInput reports whether a process, or one that it started in its group, only waits for its
// standard input, a pipe. It is false for a program that polls other descriptors too: many read their
// input just to notice its end, while they watch files.
func AwaitsInput(pid int) bool {
	reader := PipeReader("/proc/"+strconv.Itoa(pid)+"/fd/0", pid)
	return reader != 0 && !waitsForDescriptors(reader)
}

// waitsForDescriptors reports whether a thread of a process is blocked in poll(2) or a related call.
func waitsForDescriptors(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, task := range tasks[:min(len(tasks), maxThreads)] {
		text, err := os.ReadFile(dir + "/" + task.Name() + "/syscall")
		if err != nil {
			continue
		}
		if call, _, ok := parseSyscall(string(text)); ok && (isPoll(call) || isSelect(call) || isEpoll(call)) {
			return true
		}
	}
	return false
}
