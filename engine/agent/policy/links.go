package policy

import (
	"os"
	"path"
	"slices"
	"strings"
)

// maxLinks limits the links followed in a path, like the kernel's limit.
const maxLinks = 40

// followLinks returns where a path leads once all its links are followed, including links in /proc
// to the root of another process. unsure reports whether the path goes through an open file or the
// working directory of another process: the target may then be anything.
func followLinks(p string) (real string, unsure bool) {
	real, links := "/", 0
	// Element by element, as the kernel does: filepath.EvalSymlinks fails at the first missing one.
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
			real = next // an open file of the command itself
			continue
		case kind != "":
			return path.Join(next, strings.Join(rest, "/")), true
		case next != "/proc/self" && next != "/proc/thread-self": // those belong to the command itself
			target, _ = os.Readlink(next) // anything else stays
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

// procLink returns the kind of a link in /proc/<pid> resolved by the kernel, proc(5): "root",
// "cwd", or "fd" for open files; "" for any other path.
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

// isOwnProc reports whether a path refers to the directory in /proc of the process that opens it.
func isOwnProc(p string) bool {
	return strings.HasPrefix(p, "/proc/self/") || strings.HasPrefix(p, "/proc/thread-self/")
}

// mayBeProcLink reports whether a glob may match a path through a link recognized by procLink.
func mayBeProcLink(pattern string) bool {
	parts := strings.Split(strings.Trim(path.Clean(pattern), "/"), "/")
	if len(parts) < 3 || overlap(parts[0], "proc") == no {
		return false
	}
	return slices.ContainsFunc(parts[2:], func(part string) bool {
		return slices.ContainsFunc([]string{"root", "cwd", "fd", "map_files", "task"}, func(name string) bool { return overlap(part, name) != no })
	})
}
