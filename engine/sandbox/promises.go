package sandbox

import "fmt"

// A Promise is what the sandbox keeps, or on this kernel does not.
type Promise struct {
	Name  string // a sentence without its full stop
	Holds bool
	Why   string // when it does not hold: what is missing
}

// Promises are those of the sandbox, for this kernel. Nothing changes.
func Promises() []Promise {
	return currentKernel().promises()
}

func (k kernel) promises() []Promise {
	files := k.lacks(landlockTruncate, "6.2")
	calls := ""
	if k.seccomp != nil {
		calls = fmt.Sprintf("system calls cannot be filtered: %v", k.seccomp)
	}
	sockets := ""
	if !k.resolveUnix {
		sockets = "this kernel's Landlock cannot confine Unix sockets, so none can be made but connected pairs"
	}
	all := []Promise{
		{Name: "Files in denyRead cannot be read", Why: files},
		{Name: "Files outside allowWrite cannot be written", Why: files},
		{Name: "A layer cannot widen another", Why: files},
		{Name: "Other terminals, input devices and disks cannot be opened", Why: files},
		{Name: "Devices that can be read take no commands (ioctl)", Why: k.lacks(landlockIoctl, "6.10")},
		{Name: "No debugger attaches to a process outside, and its memory cannot be read", Why: k.lacks(1, "5.13")},
		{Name: "No signal reaches a process outside", Why: k.lacks(landlockScopes, "6.12")},
		{Name: "No process outside is slowed down by its priority, scheduling or limits; only which processors it runs on can be changed", Why: calls},
		{Name: "No file is made that runs as its owner (set-user-ID)", Why: calls},
		{Name: "Without allowedDomains there is no network", Why: calls},
		{Name: "Only allowedDomains can be reached", Why: either(k.lacks(landlockTCP, "6.7"), calls)},
		{Name: "No Unix socket outside can be reached, abstract ones included", Why: either(files, calls)},
		{Name: "Unix sockets in allowWrite can be used", Why: sockets},
		{Name: "No input can be injected into a terminal", Why: calls},
		{Name: "No new namespaces, mounts or io_uring can be made", Why: calls},
		{Name: "No new privileges can be gained"},
	}
	if k.landlockErr == errPlatform {
		all[len(all)-1].Why = errPlatform.Error()
	}
	for i := range all {
		all[i].Holds = all[i].Why == ""
	}
	return all
}

// lacks tells what is missing where Landlock must have a version, which first
// was in a version of Linux; "" if nothing is.
func (k kernel) lacks(need int, linux string) string {
	switch {
	case k.landlock >= need:
		return ""
	case k.landlock == 0:
		return fmt.Sprintf("this kernel has no Landlock (%v); it needs Linux %s or later with \"landlock\" in the boot parameter lsm=", k.landlockErr, linux)
	}
	return fmt.Sprintf("Landlock must have version %d (Linux %s); this kernel has version %d", need, linux, k.landlock)
}

// either is the first reason that there is.
func either(reasons ...string) string {
	for _, reason := range reasons {
		if reason != "" {
			return reason
		}
	}
	return ""
}
