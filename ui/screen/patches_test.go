package screen

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"tandem/engine/screen/styled"
	"tandem/panes/kit/graphics"
)

// sheetOf returns a picture of 3×2 cells.
func sheetOf(t *testing.T, id uint64) *graphics.Sheet {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 30, 40))); err != nil {
		t.Fatal(err)
	}
	return &graphics.Sheet{
		Source: &graphics.Source{Size: image.Pt(30, 40), PNG: b.Bytes()},
		At:     styled.Placement{ID: id, Source: image.Rect(0, 0, 30, 40), Cols: 3, Rows: 2, Cell: image.Pt(10, 20), Box: image.Rect(0, 0, 30, 40)},
	}
}

// paintFrames paints frames, made of rows and patches, and returns the output for the
// pictures of each.
func paintFrames(t *testing.T, on graphics.Screen, frames ...func() (rows string, all []graphics.Patch)) (written []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	terminal := New(out, colorprofile.TrueColor)
	if err := terminal.Enter(); err != nil {
		t.Fatal(err)
	}
	picture := regexp.MustCompile(`(?s)\x1b(?:\[\d+;\d+H\x1b)?(_Ga=[tpd].*?|P0;1;0q.*?)\x1b\\`)
	id := regexp.MustCompile(`i=\d+`)
	for _, f := range frames {
		before, _ := os.ReadFile(path)
		rows, all := f()
		terminal.Show(tea.View{Content: rows}, 10, 4, nil, Placement{}, graphics.Patches{On: on, All: all})
		if err := terminal.Paint(); err != nil {
			t.Fatal(err)
		}
		after, _ := os.ReadFile(path)
		text := ""
		for _, m := range picture.FindAllString(string(after[len(before):]), -1) {
			m, _, _ = strings.Cut(id.ReplaceAllString(strings.TrimSuffix(m, "\x1b\\"), "i"), ";iVBOR")
			if at := strings.Index(m, "q\""); at > 0 {
				m = m[:at]
			}
			text += strings.ReplaceAll(m, "\x1b", "^") + " "
		}
		written = append(written, text)
	}
	return written
}

func TestSessionPicturesAreTransmittedOnceAndPlaced(t *testing.T) {
	s := sheetOf(t, 1)
	patch := func(y, from int) []graphics.Patch {
		return []graphics.Patch{{Sheet: s, Cells: image.Rect(0, from, 3, 2), X: 2, Y: y}}
	}
	got := paintFrames(t, graphics.Screen{Protocol: graphics.Kitty},
		func() (string, []graphics.Patch) { return "a\nb\nc\nd", patch(1, 0) },
		func() (string, []graphics.Patch) { return "a\nb\nc\nd", patch(1, 0) },
		func() (string, []graphics.Patch) { return "a\nb\nc\nd", patch(0, 1) },
		func() (string, []graphics.Patch) { return "x\nb\nc\nd", patch(0, 1) },
		func() (string, []graphics.Patch) { return "x\nb\nc\nd", nil },
	)
	want := []string{
		"^_Ga=t,f=100,t=d,i,q=2,m=0 ^[2;3H^_Ga=p,p=1,C=1,q=2,i,x=0,y=0,w=30,h=40,c=3,r=2,z=0 ",
		"",
		"^[1;3H^_Ga=p,p=2,C=1,q=2,i,x=0,y=20,w=30,h=20,c=3,r=1,z=0 ^_Ga=d,q=2,d=i,i,p=1 ",
		"^[1;3H^_Ga=p,p=2,C=1,q=2,i,x=0,y=20,w=30,h=20,c=3,r=1,z=0 ",
		"^_Ga=d,q=2,d=i,i,p=2 ",
	}
	for n := range want {
		if got[n] != want[n] {
			t.Errorf("frame %d writes\n%q, want\n%q", n, got[n], want[n])
		}
	}
}

func TestSessionSixelsAreRedrawnInWrittenRows(t *testing.T) {
	all := []graphics.Patch{{Sheet: sheetOf(t, 1), Cells: image.Rect(0, 0, 3, 2), X: 2, Y: 1}}
	got := paintFrames(t, graphics.Screen{Protocol: graphics.Sixel, Cell: image.Pt(10, 20)},
		func() (string, []graphics.Patch) { return "a\nb\nc\nd", all },
		func() (string, []graphics.Patch) { return "x\nb\nc\nd", all },
		func() (string, []graphics.Patch) { return "x\nb\nc!\nd", all },
	)
	for n, want := range []string{"^[2;3H^P0;1;0 ", "", "^[2;3H^P0;1;0 "} {
		if got[n] != want {
			t.Errorf("frame %d writes %q, want %q", n, got[n], want)
		}
	}
}
