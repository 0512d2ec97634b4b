package policy

import (
	"os"
	"path"
	"slices"
	"strings"
)

// maxLinks bounds how many links of a path are followed, as the kernel does.
const maxLinks = 40

// follow returns where links lead, also those of /proc to another process's root, which only
// some may read. unsure reports whether the path goes through a folder or a file that another
// process has open, or its working directory: that is any.
func follow(p string) (real string, unsure bool) {
	real, links := "/", 0
	for rest := strings.Split(p, "/"); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = path.Dir(real)
			continue
		}
		next := path.Join(real, name)
		target := ""
		switch kind := procLink(next); {
		case kind == "root":
			target = "/"
		case kind == "fd" && isOwnProc(next) && len(rest) == 0:
			real = next // what the command has open already
			continue
		case kind != "":
			return path.Join(next, strings.Join(rest, "/")), true
		case next != "/proc/self" && next != "/proc/thread-self": // those are the command's own
			target, _ = os.Readlink(next) // what is no link stays
		}
		if target == "" || links == maxLinks {
			real = next
			continue
		}
		links++
		if strings.HasPrefix(target, "/") {
			real = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return real, false
}

// procLink names the kind of a link in /proc/<pid> that the kernel resolves, proc(5): "root",
// "cwd", or "fd" for what is open; "" if the path is none.
func procLink(p string) string {
	parts := strings.Split(strings.Trim(p, "/"), "/")
	if len(parts) > 4 && parts[2] == "task" {
		parts = slices.Delete(parts, 2, 4)
	}
	switch {
	case len(parts) < 3 || parts[0] != "proc":
	case len(parts) == 3 && (parts[2] == "root" || parts[2] == "cwd"):
		return parts[2]
	case len(parts) == 4 && (parts[2] == "fd" || parts[2] == "map_files"):
		return "fd"
	}
	return ""
}

// isOwnProc reports whether a path is that of the command itself in /proc.
func isOwnProc(p string) bool {
	return strings.HasPrefix(p, "/proc/self/") || strings.HasPrefix(p, "/proc/thread-self/")
}

// mayBeProcLink reports whether a glob may become a path through such a link.
func mayBeProcLink(pattern string) bool {
	parts := strings.Split(strings.Trim(path.Clean(pattern), "/"), "/")
	if len(parts) < 3 || overlap(parts[0], "proc") == no {
		return false
	}
	return slices.ContainsFunc(parts[2:], func(part string) bool {
		return slices.ContainsFunc([]string{"root", "cwd", "fd", "map_files", "task"}, func(name string) bool { return overlap(part, name) != no })
	})
}
