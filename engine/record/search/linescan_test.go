package search

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/tests/seed"
)

// scansOf returns all kinds of scans for an expression: from either end, with a table, with a table
// that is usually too small, and without one.
func scansOf(t interface{ Fatal(...any) }, expr string) map[string]*lineScan {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	scans := make(map[string]*lineScan)
	back := newAutomaton(reverseExpr(tree))
	back.backward = true
	for name, a := range map[string]*automaton{"forward": newAutomaton(tree), "backward": back} {
		scans[name] = newLineScan(a)
		scans[name+", small table"] = newLineScan(a)
		scans[name+", small table"].maxRows = 2
		scans[name+", no table"] = newLineScan(a)
		scans[name+", no table"].noTableUntil = 1 << 60
	}
	return scans
}

// linesThat returns the matching lines of data as found by package regexp.
func linesThat(re *regexp.Regexp, data string) (found []string) {
	for i, line := range strings.Split(strings.TrimSuffix(data, "\n"), "\n") {
		if line = strings.TrimSuffix(line, "\r"); data != "" && re.MatchString(line) {
			found = append(found, fmt.Sprintf("%d: %q", i, line))
		}
	}
	return found
}

// collect returns a yield function that appends lines in the format of linesThat.
func collect(data string, found *[]string) func(lo, hi int) bool {
	return func(lo, hi int) bool {
		line := strings.TrimSuffix(data[lo:hi], "\r")
		*found = append(*found, fmt.Sprintf("%d: %q", strings.Count(data[:lo], "\n"), line))
		return true
	}
}

func (sc *lineScan) matchingLines(data string) (found []string) {
	literals(nil).eachLine([]byte(data), sc.matches, collect(data, &found))
	return found
}

// patternFinds returns the lines found by a Pattern, including its search for literals.
func patternFinds(t interface{ Fatal(...any) }, expr, data string) (found []string) {
	p, err := Compile(expr, false)
	if err != nil {
		t.Fatal(err)
	}
	p.Each([]byte(data), collect(data, &found))
	return found
}

func checkScans(t interface {
	Fatal(...any)
	Errorf(string, ...any)
}, expr, data string) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return
	}
	want := linesThat(re, data)
	if got := patternFinds(t, expr, data); !slices.Equal(got, want) {
		t.Errorf("%q in %q: %q, want %q", expr, data, got, want)
	}
	for name, sc := range scansOf(t, expr) {
		for range 2 { // the second time with the table filled by the first
			if got := sc.matchingLines(data); !slices.Equal(got, want) {
				t.Errorf("%s, %q in %q: %q, want %q", name, expr, data, got, want)
			}
		}
	}
}

const scanLines = "an error\r\n\nError: 12 ms\n  took 1234ms\r\r\nna\u00efve caf\u00e9\n\xff\xfe\xe2\x82\n" +
	"foo_bar baz-qux\n\r\nxx\rxx\nthe end 5\nK\u017f\u212a\n\x00nul\nlast \u2028 line 99$"

func TestScansMatchPackageRegexp(t *testing.T) {
	for _, expr := range []string{
		"", "^", "$", "^$", "\\b", "\\B", "^\\B", "\\B$", "\\b$", "x*", "error", "(?i)ERROR", "(?i)k", "[0-9]+ms$", "\\s$", "^\\s", "^.{5,8}$", ".*end.*",
		"\\bbar\\b", "\\bbaz\\b.*x$", "[^a-z]$", "[^\\x00-\\x7f]", "caf.$", "^..$", "\\pL+\\s\\pL+", "\\x{FFFD}", "(?s).$", "(?m)^the|5$", "a|b|$^",
		"(foo|foo_bar)\\b", "(a?){5}b", "(?:x+x+)+y", "[ms]{2}\\r?$", "\\z", "\\A\\w+\\z", "(?U)a+?b??", "\u2028", "9\\$", "e.{3}r", "\\C",
		"error", "(?i)error", "^error", "x$", "ä", "(?i)Ä", "a|warn", "(?i)k", "\\.{3}", "[0-9]+", "", "^$", "e", "\\x{FFFD}", "no such thing",
		"err(or|x)", "(?i)warn.*error", "(no )?end", "(warn)+", "\\bx", "\r", "n\n", "(?i)(error|zeile)", "(?i)a\u0130", "(?i)baz-QUX", "(?i)lAST|the", "-$", "ab?c",
	} {
		checkScans(t, expr, scanLines)
	}
}

// exprGen generates expressions with all elements of the syntax.
func exprGen() *rapid.Generator[string] {
	atom := rapid.SampledFrom([]string{"a", "b", "ab", ".", "[ab]", "[^a]", "\\w", "\\W", "\\d", "\\s", "\u00e9", "[\u00e0-\u00ff]", "\\x{FFFD}", "\r", "\\n",
		"^", "$", "\\b", "\\B", "\\A", "\\z", "(?i:aK)", "(?i:bAb)", "(?i:ab\u0130a)", "(?s:.)", "(?m:^)", "(?m:$)", "_", "1", "-"})
	var deep func(n int) *rapid.Generator[string]
	deep = func(n int) *rapid.Generator[string] {
		if n == 0 {
			return atom
		}
		sub := deep(n - 1)
		return rapid.OneOf(atom,
			rapid.Custom(func(t *rapid.T) string { return sub.Draw(t, "a") + sub.Draw(t, "b") }),
			rapid.Custom(func(t *rapid.T) string { return "(" + sub.Draw(t, "a") + "|" + sub.Draw(t, "b") + ")" }),
			rapid.Custom(func(t *rapid.T) string {
				return "(?:" + sub.Draw(t, "a") + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{0,3}", "{1,}", "{70}", "*?"}).Draw(t, "times")
			}))
	}
	return deep(4)
}

func TestScansMatchPackageRegexpOnRandomLines(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "aB", "BA", "i", "\u0130", "\u00e9", "K", "\u212a", "_", "1", "-", " ", "\n", "\r\n", "\r", "\xff", "\xe2\x82", "\u20ac",
		strings.Repeat("a", 69), strings.Repeat("ab", 40)})
	seed.Check(t, func(t *rapid.T) {
		checkScans(t, exprGen().Draw(t, "expression"), strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "text"), ""))
	})
}

func FuzzScans(f *testing.F) {
	f.Add("[0-9]+ms$", scanLines)
	f.Add("(?i)\\b(err|warn)\\w*\\b.{0,70}x?$", scanLines)
	f.Fuzz(func(t *testing.T, expr, data string) {
		if len(expr) < 200 && len(data) < 10_000 {
			checkScans(t, expr, data)
		}
	})
}

// Without a limit, a useless table would cost more than it saves, and grow forever.
func TestTableWithoutRepeatedSetsIsSuspended(t *testing.T) {
	sc := scansOf(t, "e.{40}x$")["forward"]
	words := []string{"error", "the", "quick", "request", "server", "e", "failed", "eee", "time"}
	var b strings.Builder
	for i, n := 0, uint32(1); i < 400_000; i++ {
		n = n*1664525 + 1013904223
		b.WriteString(words[n>>16%uint32(len(words))])
		if n>>29 == 0 {
			b.WriteByte('\n')
		}
	}
	sc.matchingLines(b.String())
	if len(sc.rows) > sc.maxRows || sc.noTableUntil <= 0 {
		t.Errorf("%d sets, without the table up to %d", len(sc.rows), sc.noTableUntil)
	}
}

// An expression too large for an automaton is left to package regexp.
func TestTooLargeExpressionIsSearched(t *testing.T) {
	expr := "(" + strings.Repeat("[a-c]", maxPositions+1) + "|x)$"
	p, err := Compile(expr, false)
	if err != nil || p.auto != nil {
		t.Fatalf("an automaton: %v, error %v", p.auto != nil, err)
	}
	if got := patternFinds(t, expr, "a\nx\nxa\nax\n"); !slices.Equal(got, []string{`1: "x"`, `3: "ax"`}) {
		t.Errorf("found %q", got)
	}
}

func TestFoldingPatternMatchesEitherCase(t *testing.T) {
	p, err := Compile("error|k$", true)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	data := "an Error\r\nnone\nK\r\nkeel\n\u212a"
	p.Each([]byte(data), collect(data, &found))
	if want := []string{`0: "an Error"`, `2: "K"`, "4: \"\u212a\""}; !slices.Equal(found, want) {
		t.Errorf("found %q", found)
	}
	if _, err := Compile("a)(b", true); err == nil {
		t.Error("an invalid expression was accepted")
	}
}
