package files

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxReportName = 200  // bytes
	maxReports    = 1000 // with one name in one second
)

// Report writes a new file with a date in its name to a folder below Home:
// outputs/YYYYMMDDHHMMSS-NAME.md, or .json if format is json. If the name exists, -1, -2, … is
// appended. The tree's roots do not matter.
func (t *Tree) Report(ctx context.Context, name, content, format string, now time.Time) (out WriteResult, err error) {
	err = t.runConfined(func() (err error) {
		out, err = t.writeReport(ctx, name, content, format, now)
		return err
	})
	return out, err
}

func (t *Tree) writeReport(ctx context.Context, name, content, format string, now time.Time) (WriteResult, error) {
	if err := checkReport(name, content, format); err != nil {
		return WriteResult{}, err
	}
	ext := ".md"
	if format == "json" {
		ext = ".json"
	}
	outputs := *t
	outputs.Roots, outputs.Base = []string{filepath.Join(t.Home, "outputs")}, ""
	stem := now.Format("20060102150405") + "-" + name
	for i := range maxReports {
		file := stem
		if i > 0 {
			file += "-" + strconv.Itoa(i)
		}
		out, err := outputs.writePath(ctx, WriteRequest{Path: file + ext, Data: []byte(content), New: true})
		if !errors.Is(err, Exists) {
			return out, err
		}
	}
	return WriteResult{}, errorf(Exists, "write report %s: %d reports already have this name", name, maxReports)
}

func checkReport(name, content, format string) error {
	wrong := func(why string) error { return errorf(Invalid, "write report %q: %s", name, why) }
	switch {
	case format != "" && format != "markdown" && format != "json":
		return wrong("the format must be markdown or json")
	case strings.Trim(name, " .") == "":
		return wrong("the name is empty")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return wrong("the name contains unprintable characters")
	case strings.ContainsAny(name, `/\`):
		return wrong("the name must not include a folder")
	case len(name) > maxReportName:
		return wrong("the name is longer than 200 bytes")
	case hasExtension(name):
		return wrong("the name must have no extension; the format determines it")
	}
	if format != "json" {
		return nil
	}
	var value json.RawMessage
	if err := json.Unmarshal([]byte(content), &value); err != nil {
		return wrong("the content is not valid JSON: " + explainJSON([]byte(content), err))
	}
	return nil
}

// hasExtension reports whether name ends like a file name. A version number at the end does not
// count.
func hasExtension(name string) bool {
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	word := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return ext != "" && !strings.ContainsFunc(ext, word) && strings.ContainsFunc(ext, unicode.IsLetter)
}
