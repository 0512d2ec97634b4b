package list

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
	"tandem/themes"
)

func newChoices(texts ...string) *Choices {
	c := &Choices{}
	var all []Choice
	for i, text := range texts {
		all = append(all, Choice{Kind: "action", Sign: ">", Text: text, Number: i})
	}
	c.Set(all)
	return c
}

func shownTexts(c *Choices) (texts []string) {
	for _, i := range c.shown {
		texts = append(texts, c.all[i].Text)
	}
	return texts
}

func TestSearchListsBestMatchFirst(t *testing.T) {
	c := newChoices("start a session", "split: a new session beside", "stop", "rename the session")
	c.Search("ses rena")
	if diff := cmp.Diff([]string{"rename the session"}, shownTexts(c)); diff != "" {
		t.Error(diff)
	}
	c.Search("st")
	if got := shownTexts(c); got[0] != "start a session" && got[0] != "stop" {
		t.Errorf("st finds %q first", got[0])
	}
	c.Search("zzz")
	if _, ok := c.Selected(); ok {
		t.Error("something is selected among nothing")
	}
	c.Search("")
	if diff := cmp.Diff(4, len(c.shown)); diff != "" {
		t.Error(diff)
	}
}

func TestKindIsShownOnceForTheRowsBelowIt(t *testing.T) {
	c := &Choices{}
	c.Set([]Choice{{Kind: "action", Text: "one"}, {Kind: "action", Text: "two"}, {Kind: "session", Text: "three"},
		{Kind: "action", Text: "four"}, {Kind: "action", Text: "five"}})
	draw := func(h int) (rows []string) {
		for _, row := range c.Draw(60, h, &look.Look{Glyphs: themes.UnicodeGlyphs()}) {
			rows = append(rows, strings.TrimRight(ansi.Strip(row), " "))
		}
		return rows
	}
	want := []string{"▌ action    one", "            two", "  session   three", "  action    four", "            five"}
	if diff := cmp.Diff(want, draw(5)); diff != "" {
		t.Error(diff)
	}
	c.Move(4)
	want = []string{"  action    four", "▌           five"}
	if diff := cmp.Diff(want, draw(2)); diff != "" {
		t.Errorf("scrolled: %s", diff)
	}
}

func TestSearchMatchesKindAndHiddenWordsOfChoices(t *testing.T) {
	c := &Choices{}
	c.Set([]Choice{
		{Kind: "action", Text: "start a session", Also: "new session.new"},
		{Kind: "command", Text: "ls -l", Number: 1},
	})
	c.Search("new")
	if diff := cmp.Diff([]string{"start a session"}, shownTexts(c)); diff != "" {
		t.Error(diff)
	}
	c.Search("com ls")
	if diff := cmp.Diff([]string{"ls -l"}, shownTexts(c)); diff != "" {
		t.Error(diff)
	}
}

func TestLateChoicesAreListedAfterOtherMatches(t *testing.T) {
	c := &Choices{}
	c.Set([]Choice{{Text: "config", Late: true}, {Text: "edit the configuration"}, {Text: "cut"}})
	c.Search("config")
	if diff := cmp.Diff([]string{"edit the configuration", "config"}, shownTexts(c)); diff != "" {
		t.Error(diff)
	}
}

func TestSearchKeepsMatchesOfKindBesideBetterOnes(t *testing.T) {
	c := &Choices{}
	c.Set([]Choice{{Kind: "action", Text: "start a session"}, {Kind: "session", Text: "web", Number: 1}})
	for _, query := range []string{"ses", "sess", "session"} {
		c.Search(query)
		if diff := cmp.Diff([]string{"start a session", "web"}, shownTexts(c)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

func TestSetKeepsTheSelectedChoice(t *testing.T) {
	c := newChoices("a", "b", "c")
	c.Move(1)
	c.Set([]Choice{{Text: "z", Number: 9}, {Text: "b", Number: 1}})
	if got, _ := c.Selected(); got.Number != 1 {
		t.Errorf("selected is %d", got.Number)
	}
}

func TestChoicesMarkMatchedLetters(t *testing.T) {
	c := newChoices("split beside")
	c.Search("spb")
	if diff := cmp.Diff([]int{0, 1, 6}, c.query.places(&c.texts[0])); diff != "" {
		t.Error(diff)
	}
}

func TestChoicesFillTheirWidth(t *testing.T) {
	look := look.NewLook(themes.ForBackground(true).Styles(colorprofile.TrueColor), themes.UnicodeGlyphs())
	seed.Check(t, func(t *rapid.T) {
		c := &Choices{}
		var all []Choice
		for i := range rapid.IntRange(0, 5).Draw(t, "n") {
			all = append(all, Choice{Kind: "process", Sign: "●", Text: rapid.String().Draw(t, "text"),
				Detail: text.Clean(rapid.String().Draw(t, "detail")), Number: i})
		}
		c.Set(all)
		c.Search(rapid.StringMatching("[a-z ]{0,3}").Draw(t, "query"))
		w := rapid.IntRange(24, 90).Draw(t, "w")
		for _, row := range c.Draw(w, 4, &look) {
			if got := text.Width(row); got != w || strings.ContainsAny(ansi.Strip(row), "\n\r\x1b") {
				t.Fatalf("%q is %d wide, not %d", row, got, w)
			}
		}
	})
}

func TestChoiceMatchingAtItsEndFitsOneCell(t *testing.T) {
	look := look.NewLook(themes.ForBackground(true).Styles(colorprofile.TrueColor), themes.UnicodeGlyphs())
	c := &Choices{}
	c.Set([]Choice{{Kind: "process", Sign: "●", Text: "AAAAAAAAAb", Detail: "AAAAAAAAA"}})
	c.Search("b")
	for w := 24; w < 40; w++ {
		if row := c.Draw(w, 1, &look)[0]; text.Width(row) != w {
			t.Errorf("%q is %d wide, not %d", row, text.Width(row), w)
		}
	}
}

// manyChoices returns as many choices as in a busy dashboard.
func manyChoices() *Choices {
	var all []Choice
	for i := range 1000 {
		all = append(all, Choice{Kind: "process", Text: fmt.Sprintf("worker-%d  node server/worker.js --port %d", i, 3000+i), Number: i})
	}
	for i := range 200 {
		all = append(all, Choice{Kind: "command", Text: fmt.Sprintf("docker compose -f deploy/%d.yaml up --build", i), Number: 1000 + i})
	}
	c := &Choices{}
	c.Set(all)
	return c
}

func BenchmarkChoices(b *testing.B) {
	look := look.NewLook(themes.ForBackground(true).Styles(colorprofile.TrueColor), themes.UnicodeGlyphs())
	c := manyChoices()
	for b.Loop() {
		c.Search("wor ser 4")
		c.Draw(100, 20, &look)
	}
}
