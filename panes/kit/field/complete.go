package field

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/panes/kit/text"
)

// maxNames is the maximum number of completions shown.
const maxNames = 50

// CompletePath returns paths that begin with s, at most maxNames, and the common prefix of all such
// paths. Relative paths start in base.
func CompletePath(s, base, home string, onlyFolders bool) (common string, lines []string) {
	lines = listPaths(s, base, home, onlyFolders)
	return CommonPrefix(lines), lines[:min(len(lines), maxNames)]
}

// CompleteCommand completes the last word of a command line: the first word with a program in
// $PATH, any other with a file relative to folder. Words with quotes are not completed.
func CompleteCommand(s, folder, home string) (common string, lines []string) {
	const special = "'\"\\`$|&;<>()*?"
	word := s[strings.LastIndexByte(s, ' ')+1:]
	if word == "" || strings.ContainsAny(s, special) {
		return "", nil
	}
	head := s[:len(s)-len(word)]
	var words []string
	if strings.TrimSpace(head) == "" && !strings.Contains(word, "/") {
		words = listPrograms(word)
	} else {
		words = listPaths(word, folder, home, false)
	}
	for _, found := range words {
		if !strings.ContainsAny(found, " "+special) {
			lines = append(lines, head+found)
		}
	}
	return CommonPrefix(lines), lines[:min(len(lines), maxNames)]
}

// listPaths returns the paths that begin with s, sorted. Directories end in a slash. Relative paths
// start in base.
func listPaths(s, base, home string, onlyFolders bool) (paths []string) {
	dir, part := filepath.Split(s)
	folder := text.ExpandHome(dir, home)
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(base, folder)
	}
	for name, info := range entries(filepath.Clean(folder), part) {
		switch {
		case info.IsDir():
			paths = append(paths, dir+name+"/")
		case !onlyFolders:
			paths = append(paths, dir+name)
		}
	}
	slices.Sort(paths)
	return paths
}

// listPrograms returns the sorted names of the executables in $PATH with the given prefix.
func listPrograms(prefix string) (names []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		for name, info := range entries(dir, prefix) {
			if info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// entries iterates over the entries of a directory whose names begin with prefix, and follows
// links. Hidden entries are included only if prefix begins with a dot.
func entries(folder, prefix string) iter.Seq2[string, os.FileInfo] {
	return func(yield func(string, os.FileInfo) bool) {
		all, _ := os.ReadDir(folder) // an unreadable directory has no completions
		for _, e := range all {
			name := e.Name()
			if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, ".") && !strings.HasPrefix(prefix, ".") {
				continue
			}
			if info, err := os.Stat(filepath.Join(folder, name)); err == nil && !yield(name, info) {
				return
			}
		}
	}
}

// LastParts returns lines without the words or the directory that text and they have in common.
func LastParts(text string, lines []string) (parts []string) {
	stem := text[:strings.LastIndexAny(text, "/ ")+1]
	for _, line := range lines {
		parts = append(parts, strings.TrimPrefix(line, stem))
	}
	return parts
}

// CommonPrefix returns the longest common prefix of lines, in whole characters.
func CommonPrefix(lines []string) (prefix string) {
	for i, line := range lines {
		if i == 0 {
			prefix = line
		}
		for !strings.HasPrefix(line, prefix) {
			_, size := utf8.DecodeLastRuneInString(prefix)
			prefix = prefix[:len(prefix)-size]
		}
	}
	return prefix
}
