package cast

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/screen/passthrough"
	"tandem/engine/screen/vt"
)

// placesOf returns the cells of a screen that show pictures.
func placesOf(term *vt.Terminal) (all []string) {
	_, first, end := term.Bounds()
	for _, l := range term.Lines(first, int(end-first)) {
		for _, s := range l.Line.Pictures {
			all = append(all, fmt.Sprint(l.N-first, s.From, s.To))
		}
	}
	return all
}

func TestRecordingBeginsWithThePicturesOnTheScreen(t *testing.T) {
	for name, printed := range map[string]string{
		"sixels":         "$ img\r\n\x1bP0;1q\"1;1;20;42#1!20~-!20~-!20~-!20~-!20~-!20~-!20~\x1b\\\r\n\x1b[1;31m$ ",
		"kitty's":        "a\x1b_Ga=T,i=7,f=24,s=1,v=1,c=3,r=3,C=1,q=2;AAAA\x1b\\\x1b[6;2Hb",
		"one, cut above": "\x1bP0;1q\"1;1;20;42#1!20~-!20~-!20~-!20~-!20~-!20~-!20~\x1b\\\n\n\n\n\n\n\nx",
		"across margins": "\x1b[4;1H\x1bP0;1q\"1;1;20;42#1!20~-!20~-!20~-!20~-!20~-!20~-!20~\x1b\\\x1b[2;5r",
		"none":           "text\x1b[7m",
	} {
		o := vt.Options{Cols: 20, Rows: 8}
		was, is := vt.New(o), vt.New(o)
		was.Write([]byte(printed))
		var line timeline
		events := line.events(api.SessionRecordOutput{Repaint: was.AppendPictures(was.AppendRepaint(nil)), Sizes: []api.LogSize{{Cols: 20, Rows: 8}}})
		var replay passthrough.Replay
		for _, e := range events {
			if e.Kind == Output {
				is.Write(replay.Pass([]byte(e.Text)))
			}
		}
		if diff := cmp.Diff(placesOf(was), placesOf(is)); diff != "" || len(placesOf(was)) == 0 && name != "none" {
			t.Errorf("%s (-was +played)\n%s", name, diff)
		}
		was.Write([]byte("after"))
		is.Write([]byte("after"))
		if was.Text() != is.Text() || was.Cursor() != is.Cursor() {
			t.Errorf("%s: %q becomes %q", name, was.Text(), is.Text())
		}
	}
}
