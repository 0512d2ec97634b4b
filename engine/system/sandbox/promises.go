package sandbox

import "fmt"

// A Promise is a guarantee of the sandbox, and whether this kernel allows it.
type Promise struct {
	Name  string // a sentence without its full stop
	Holds bool
	Why   string // the missing feature, if it does not hold
}

// Promises returns the sandbox's guarantees on this kernel, without changing anything.
func Promises() []Promise {
	return currentKernel().promises()
}

func (k kernel) promises() []Promise {
	files := k.missingLandlock(landlockTruncate, "6.2")
	calls := ""
	if k.seccomp != nil {
		calls = fmt.Sprintf("system calls cannot be filtered: %v", k.seccomp)
	}
	sockets := ""
	if !k.resolveUnix {
		sockets = "this kernel's Landlock cannot confine Unix sockets, so only connected pairs can be created"
	}
	all := []Promise{
		{Name: "Files in denyRead cannot be read", Why: files},
		{Name: "Files outside allowWrite cannot be written", Why: files},
		{Name: "A layer cannot widen another", Why: files},
		{Name: "Other terminals, input devices and disks cannot be opened", Why: files},
		{Name: "Devices that can be read cannot be controlled (ioctl)", Why: k.missingLandlock(landlockIoctl, "6.10")},
		{Name: "No debugger attaches to a process outside, and its memory cannot be read", Why: k.missingLandlock(1, "5.13")},
		{Name: "No signal reaches a process outside", Why: k.missingLandlock(landlockScopes, "6.12")},
		{Name: "Priority, scheduling and limits of processes outside cannot be changed; only the processors they run on can", Why: calls},
		{Name: "No file is made that runs as its owner (set-user-ID)", Why: calls},
		{Name: "Without allowedDomains there is no network", Why: calls},
		{Name: "Only allowedDomains can be reached", Why: firstReason(k.missingLandlock(landlockTCP, "6.7"), calls)},
		{Name: "No Unix socket outside can be reached, abstract ones included", Why: firstReason(files, calls)},
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

// missingLandlock returns why this kernel's Landlock is too old, or "" if it has version need or a
// later one. linux is the first release of Linux with that version.
func (k kernel) missingLandlock(need int, linux string) string {
	switch {
	case k.landlock >= need:
		return ""
	case k.landlock == 0:
		return fmt.Sprintf("this kernel has no Landlock (%v); it needs Linux %s or later with \"landlock\" in the boot parameter lsm=", k.landlockErr, linux)
	}
	return fmt.Sprintf("Landlock must have version %d (Linux %s); this kernel has version %d", need, linux, k.landlock)
}

// firstReason returns the first reason other than "".
func firstReason(reasons ...string) string {
	for _, reason := range reasons {
		if reason != "" {
			return reason
		}
	}
	return ""
}
