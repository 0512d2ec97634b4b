package text

import (
	"fmt"
	"time"

	"tandem/engine/api"
)

// FileSuffix returns the character for a file's kind, like "ls -F".
func FileSuffix(f *api.FileInfo) string {
	switch {
	case f.Type == "dir":
		return "/"
	case f.Type == "link":
		return "@"
	case f.Type == "fifo":
		return "|"
	case f.Type == "socket":
		return "="
	case f.IsExecutable():
		return "*"
	}
	return ""
}

// FileTime formats a time in at most twelve cells. A time in this year has the time of day, any
// other has the year.
func FileTime(t, now time.Time) string {
	t = t.Local()
	switch now := now.Local(); {
	case t.IsZero():
		return ""
	case t.Year() != now.Year():
		return t.Format("2 Jan  2006")
	case t.YearDay() == now.YearDay():
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04")
}

// FileMode formats a file's type and permissions like "ls -l".
func FileMode(f *api.FileInfo) string {
	kind := map[string]string{"dir": "d", "link": "l", "fifo": "p", "socket": "s", "device": "c"}[f.Type]
	if kind == "" {
		kind = "-"
	}
	var bits int
	fmt.Sscanf(f.Mode, "%o", &bits)
	text := []byte("rwxrwxrwx")
	for i := range text {
		if bits&(1<<(8-i)) == 0 {
			text[i] = '-'
		}
	}
	for i, letters := range [3]string{"sS", "sS", "tT"} {
		if bits&(0o4000>>i) != 0 {
			at := 2 + 3*i
			if text[at] == 'x' {
				text[at] = letters[0]
			} else {
				text[at] = letters[1]
			}
		}
	}
	return kind + string(text)
}
