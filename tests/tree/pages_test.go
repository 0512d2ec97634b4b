package tree

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// generatedPages may be long, and their lines as wide as their source.
var generatedPages = []string{"docs/api.md", "docs/keys.md", "docs/config.md", "docs/internals/packages.md"}

const (
	maxPageLines    = 150
	maxProseColumns = 100
)

func TestPagesAreShort(t *testing.T) {
	maxLines := map[string]int{"README.md": 170, "bench/README.md": 170} // half of the second is tables
	maxWords := map[string]int{"README.md": 1400, "ARCHITECTURE.md": 1500}
	for _, page := range pages(t) {
		text := readPage(t, page)
		limit := maxLines[page]
		if limit == 0 {
			limit = maxPageLines
		}
		if n := strings.Count(text, "\n"); n > limit {
			t.Errorf("%s: %d lines, more than %d; move part of it to another page", page, n, limit)
		}
		if n := len(strings.Fields(text)); maxWords[page] > 0 && n > maxWords[page] {
			t.Errorf("%s: %d words, more than %d", page, n, maxWords[page])
		}
	}
	first, _, found := strings.Cut(readPage(t, "ARCHITECTURE.md"), "\n## To add ")
	if n := len(strings.Fields(first)); !found || n > 900 {
		t.Errorf("ARCHITECTURE.md: %d words before the first \"To add\", more than 900", n)
	}
}

func TestProseIsWrapped(t *testing.T) {
	for _, page := range pages(t) {
		for i, line := range proseLines(readPage(t, page)) {
			if utf8.RuneCountInString(line) > maxProseColumns && strings.Contains(line, " ") && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "![") {
				t.Errorf("%s:%d: prose of more than %d columns", page, i+1, maxProseColumns)
			}
		}
	}
}

func TestLinksBetweenPagesHaveTargets(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]*)\)`)
	code := regexp.MustCompile("`[^`]*`")
	for _, page := range trackedFiles(t, "*.md") {
		for i, line := range proseLines(readPage(t, page)) {
			for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				if problem := checkLink(t, page, match[1]); problem != "" {
					t.Errorf("%s:%d: link to %s: %s", page, i+1, match[1], problem)
				}
			}
		}
	}
}

// checkLink returns the problem with a link of a page, or "" if the target exists or is on the
// web.
func checkLink(t *testing.T, page, link string) string {
	if strings.Contains(link, "://") {
		return ""
	}
	file, anchor, _ := strings.Cut(link, "#")
	target := page
	if file != "" {
		target = path.Join(path.Dir(page), file)
	}
	if _, err := os.Stat(target); err != nil {
		return "no such file"
	}
	if anchor != "" && !slices.Contains(anchors(readPage(t, target)), anchor) {
		return "no such heading"
	}
	return ""
}

// anchors returns the anchors of a page's headings, formed as on GitHub.
func anchors(text string) []string {
	var list []string
	for _, line := range proseLines(text) {
		heading, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !found || !strings.HasPrefix(line, "#") {
			continue
		}
		list = append(list, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, heading))
	}
	return list
}

// proseLines returns the lines of a page, with the lines of code blocks blanked.
func proseLines(text string) []string {
	lines := strings.Split(text, "\n")
	inCode := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence || inCode || strings.HasPrefix(line, "    ") {
			lines[i] = ""
		}
		if fence {
			inCode = !inCode
		}
	}
	return lines
}

// pages returns the hand-written pages, without the changelog, which grows.
func pages(t *testing.T) []string {
	return slices.DeleteFunc(trackedFiles(t, "*.md"), func(page string) bool {
		return page == "CHANGELOG.md" || slices.Contains(generatedPages, page) || strings.Contains(page, "testdata/")
	})
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
