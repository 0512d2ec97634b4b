package text

import (
	"fmt"
	"hash/fnv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
)

const SgrReset = "\x1b[m"

// AppendLine appends a line of a screen as exactly w cells of text with SGR sequences and
// hyperlinks, ending in the default style. A wide character cut by the edge becomes a space.
func AppendLine(dst []byte, l api.Line, w int) []byte {
	var style api.Style
	x := 0
	for i := range l.Runs {
		if x >= w {
			break
		}
		r := &l.Runs[i]
		// Switch styles only where they change, because most of a screen has a single style.
		if r.Style != style {
			dst = AppendStyle(dst, style, r.Style)
			style = r.Style
		}
		dst, x = AppendRun(dst, r, x, w)
	}
	dst = AppendStyle(dst, style, api.Style{})
	return append(dst, Spaces(w-x)...)
}

// AppendRun appends the text of a run that starts at column x, and returns the column after it. The
// run takes as many cells as it claims, even if its text measures differently here, so that the
// rest of the line stays in place.
func AppendRun(dst []byte, r *api.Run, x, w int) ([]byte, int) {
	behind := x + max(r.Cells, 0)
	end := min(behind, w)
	// Fast path: in plain text every byte is a cell.
	if len(r.Text) == r.Cells && IsPlain(r.Text) {
		return append(dst, r.Text[:end-x]...), end
	}
	for text := r.Text; text != "" && x < end; {
		cluster, width := cellwidth.Fit(text, behind-x)
		text = text[len(cluster):]
		if width == 0 && !IsControl(cluster) {
			continue
		}
		width = max(width, 1)
		if x+width > end {
			break
		}
		dst = AppendCluster(dst, cluster, width)
		x += width
	}
	return append(dst, Spaces(end-x)...), end
}

// AppendStyle appends the sequence switching a terminal from one style to another.
func AppendStyle(dst []byte, from, to api.Style) []byte {
	if from == to {
		return dst
	}
	if from.Link != to.Link {
		dst = appendLink(dst, CleanLink(to.Link))
	}
	from.Link, to.Link = "", ""
	if from == to {
		return dst
	}
	if to == (api.Style{}) {
		return append(dst, SgrReset...)
	}
	return append(styled.AppendSGR(append(dst, "\x1b["...), to), 'm')
}

// appendLink starts or ends a hyperlink. Terminals treat links with the same id as one and
// highlight all rows of a long one together.
func appendLink(dst []byte, target string) []byte {
	if target == "" {
		return append(dst, "\x1b]8;;\x1b\\"...)
	}
	id := fnv.New32a()
	id.Write([]byte(target))
	return fmt.Appendf(dst, "\x1b]8;id=%x;%s\x1b\\", id.Sum32(), target)
}

// CleanLink returns the printable ASCII of a hyperlink's target, the form required by OSC 8. It
// returns "" for an overlong target and for schemes other than web and mail.
func CleanLink(s string) string {
	scheme, _, _ := strings.Cut(s, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
	default:
		return ""
	}
	if len(s) > 2083 {
		return ""
	}
	if IsPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return -1
		}
		return r
	}, s)
}
