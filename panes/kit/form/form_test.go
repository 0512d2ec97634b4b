package form

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/field"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
	"tandem/themes"
)

// A host has the default keys and no colours.
type host struct{}

func (host) Close()                    {}
func (host) Bindings() keymap.Bindings { return keymap.DefaultBindings() }
func (host) Look() *look.Look          { return &look.Look{Glyphs: themes.UnicodeGlyphs()} }
func (host) Spinner() string           { return "" }

// run runs a lookup and applies its answer, as the dashboard does.
func run(cmd tea.Cmd) {
	if cmd != nil {
		if a, ok := cmd().(dialog.Answer); ok {
			a.Do()
		}
	}
}

func typeText(f *Form, text string) {
	for _, r := range text {
		run(f.Type(host{}, tea.KeyPressMsg{Code: r, Text: string(r)}))
	}
}

// A sample is a form with a field of each kind.
type sample struct {
	*Form
	command, folder, more, ready *Field
}

func newSample(home string) sample {
	s := sample{
		command: &Field{Label: "command", Note: "program and arguments, quoted as in a shell; alt+enter: another line", Input: &field.Area{}},
		folder: &Field{Label: "folder", Note: "default: the home folder", Input: &field.Field{}, Complete: func(typed string) Lookup {
			return func() (string, []string) { return field.CompletePath(typed, "", home, true) }
		}},
		more:  &Field{Label: "more", Note: "space shows or hides the rest", Input: &Choice{Values: []string{"[+] the rest", "[-]"}, Folds: true}},
		ready: &Field{Label: "ready when", Note: "port 8080, http://…, log REGEXP or command LINE; default: at once", Input: &field.Field{}},
	}
	policy := &Field{Label: "restart", Note: "space switches", Input: &Choice{Values: []string{"no", "on-failure", "always"}}}
	s.Form = New("Start a process", s.command, s.folder, &Field{Label: "keep alive", Input: NewYesNo()}, s.more, policy, s.ready)
	s.Submit = func() tea.Cmd {
		s.Fail(s.ready, "a reason of many words that does not fit in any line of the form, however wide it is")
		return nil
	}
	return s
}

func TestFormSuggestsFoldersAndTabMovesToNextField(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"src-a", "src-b"} {
		if err := os.Mkdir(filepath.Join(home, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f := newSample(home)
	run(f.Do(host{}, keymap.FormNext))
	typeText(f.Form, "~/s")
	run(f.Do(host{}, keymap.FormNext)) // completes the common prefix
	if got := f.folder.Text(); got != "~/src-" {
		t.Errorf("the folder is %q", got)
	}
	rows, _, _, y := f.Draw(host{}, 300, 24)
	if !strings.Contains(rows[y], "src-a/") {
		t.Errorf("nothing is suggested: %q", rows[y])
	}
	run(f.Type(host{}, tea.KeyPressMsg{Code: tea.KeyRight}))
	if got := f.folder.Text(); got != "~/src-a/" {
		t.Errorf("with the right arrow the folder is %q", got)
	}
	run(f.Do(host{}, keymap.FormNext))
	if f.focused.Label != "keep alive" || f.folder.Text() != "~/src-a/" {
		t.Errorf("tab goes to %s, with the folder %q", f.focused.Label, f.folder.Text())
	}
}

func TestLateCompletionIsDropped(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := newSample(home)
	f.Do(host{}, keymap.FormNext)
	lookup := f.Paste(host{}, "~/s")
	typeText(f.Form, "x")
	run(lookup)
	if f.Do(host{}, keymap.FormNext); f.folder.Text() != "~/sx" {
		t.Errorf("the folder is %q", f.folder.Text())
	}
}

func TestFailUnfoldsTheFieldWithTheError(t *testing.T) {
	f := newSample("")
	if text := drawText(f.Form, 80); strings.Contains(text, "ready when") {
		t.Errorf("the field is not folded away: %s", text)
	}
	f.Do(host{}, keymap.Accept)
	if text := drawText(f.Form, 80); !strings.Contains(text, "ready when: a reason of many words") || f.focused != f.ready {
		t.Errorf("drawn: %s", text)
	}
	typeText(f.Form, "p")
	if text := drawText(f.Form, 80); strings.Contains(text, "a reason") || f.ready.Text() != "p" {
		t.Errorf("drawn after a key: %s", text)
	}
}

func TestLongErrorIsWrappedOrEndsInEllipsis(t *testing.T) {
	f := newSample("")
	f.Fail(f.folder, "worktree: add worktree: not a git repository (or any of the parent directories): "+strings.Repeat("/deep", 30)+"/.git")
	for _, height := range []int{24, 12} {
		rows, width, _, _ := f.Draw(host{}, 80, height)
		shown := strings.ReplaceAll(ansi.Strip(strings.Join(rows, "")), " ", "")
		if strings.Contains(shown, "/.git") == strings.Contains(shown, "…") || len(rows)+2 > height {
			t.Errorf("%d rows: drawn %d wide as %q", height, width, rows)
		}
	}
	f.Fail(f.folder, strings.Repeat("why ", 1000))
	if text := drawText(f.Form, 80); !strings.HasSuffix(text, "…") {
		t.Errorf("drawn: %s", text)
	}
}

// drawText returns the text of the form on a screen of w columns, with single blanks.
func drawText(f *Form, w int) string {
	rows, _, _, _ := f.Draw(host{}, w, 36)
	return strings.Join(strings.Fields(ansi.Strip(strings.Join(rows, " "))), " ")
}

func TestNotesAreCompleteOnNarrowScreen(t *testing.T) {
	for _, w := range []int{60, 80, 120} {
		f := newSample("")
		first, _, _, _ := f.Draw(host{}, w, 36)
		for _, f.focused = range f.fields[:4] {
			rows, width, _, _ := f.Draw(host{}, w, 36)
			if len(rows) != len(first) {
				t.Errorf("%d columns: %s makes the box %d rows high, the first %d", w, f.focused.Label, len(rows), len(first))
			}
			if text := drawText(f.Form, w); !strings.Contains(text, f.focused.Note) || width > w-4 {
				t.Errorf("%d columns: %q is cut", w, f.focused.Note)
			}
		}
	}
}

// With any input and at any size, a form that fits the screen draws rows of the reported width,
// with the cursor inside.
func TestFormSurvivesAnyKeyAtAnySize(t *testing.T) {
	home := t.TempDir()
	codes := []rune{tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd, tea.KeyTab, tea.KeyBackspace, tea.KeyDelete, tea.KeyEnter, tea.KeySpace}
	letters := []rune("we-1 /~.漢é\u0301\u200d\x1b\t")
	actions := []keymap.Action{keymap.Accept, keymap.FormDown, keymap.FormNext, keymap.FormPrevious, keymap.FormUp}
	seed.Check(t, func(t *rapid.T) {
		f := newSample(home)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				run(f.Type(host{}, tea.KeyPressMsg{Code: rapid.SampledFrom(codes).Draw(t, "key"), Mod: rapid.SampledFrom([]tea.KeyMod{0, 0, tea.ModShift, tea.ModCtrl, tea.ModAlt}).Draw(t, "modifier")}))
			case 1:
				typeText(f.Form, string(rapid.SampledFrom(letters).Draw(t, "letter")))
			case 2:
				run(f.Paste(host{}, rapid.StringN(0, 20, 60).Draw(t, "paste")))
			case 3:
				run(f.Do(host{}, rapid.SampledFrom(actions).Draw(t, "action")))
			}
			checkDrawing(t, f.Form, rapid.IntRange(40, 130).Draw(t, "columns"), rapid.IntRange(1, 40).Draw(t, "rows"))
		}
	})
}

func checkDrawing(t *rapid.T, f *Form, w, height int) {
	rows, width, x, y := f.Draw(host{}, w, height)
	if width+4 > w || len(rows)+2 >= height {
		return // the dashboard then reports that the screen is too small
	}
	for _, row := range rows {
		if got := text.Width(ansi.Strip(row)); got != width {
			t.Fatalf("at %d×%d %q takes %d cells of %d", w, height, row, got, width)
		}
	}
	if x >= 0 && (y < 0 || y >= len(rows) || x > width) {
		t.Fatalf("the cursor is at %d, %d of %d×%d", x, y, width, len(rows))
	}
}

func TestEmptyFieldsAreVisible(t *testing.T) {
	s := newSample(t.TempDir())
	rows, _, _, _ := s.Draw(host{}, 80, 24)
	for _, label := range []string{"command", "folder"} {
		if !strings.Contains(ansi.Strip(strings.Join(rows, "\n")), label+strings.Repeat(" ", labelWidth-len(label))+"______") {
			t.Errorf("the empty field %s is invisible:\n%s", label, strings.Join(rows, "\n"))
		}
	}
}

func TestTabCompletesOnlyEditedText(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := newSample(home)
	s.folder.Set(home)
	tab := func() { run(s.Do(host{}, keymap.FormNext)) }
	tab()
	if tab(); s.focused == s.folder || s.folder.Text() != home {
		t.Errorf("tab leads to %s and changes the folder to %q", s.focused.Label, s.folder.Text())
	}
	run(s.Do(host{}, keymap.FormPrevious))
	typeText(s.Form, "/s")
	if tab(); s.focused != s.folder || s.folder.Text() != home+"/src/" {
		t.Errorf("tab completes the typed folder to %q", s.folder.Text())
	}
}

func TestEnterOnMoreUnfoldsFieldsBeforeStarting(t *testing.T) {
	s := newSample(t.TempDir())
	submitted := false
	s.Submit = func() tea.Cmd { submitted = true; return nil }
	s.focused = s.more
	if s.Do(host{}, keymap.Accept); submitted || len(s.visibleFields()) != len(s.fields) {
		t.Error("enter does not open it")
	}
	if s.Do(host{}, keymap.Accept); !submitted {
		t.Error("enter on open fields does not start")
	}
}
