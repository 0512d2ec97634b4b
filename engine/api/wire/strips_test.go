package wire

import (
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

// picturedFrame shows two pictures, one of them in two rows.
func picturedFrame() *api.Frame {
	a := &api.Placement{ID: 1 << 40, Picture: 3, Source: image.Rect(1, 2, 30, 40), Cols: 3, Rows: 2, Cell: image.Pt(10, 20), Box: image.Rect(5, 6, 30, 40), Z: -7}
	b := &api.Placement{ID: 2, Picture: 4, Source: image.Rect(0, 0, 1, 1), Cols: 1, Rows: 1, Cell: image.Pt(8, 16), Box: image.Rect(0, 0, 8, 16)}
	f := sampleFrame(40, 3)
	f.Lines[0].Line.Pictures = []api.Strip{{Placement: a, Row: 0, X: 2, From: 2, To: 5}}
	f.Lines[2].Line.Pictures = []api.Strip{{Placement: a, Row: 1, X: 2, From: 3, To: 4}, {Placement: b, From: 0, To: 1}}
	return f
}

func TestPicturesRoundTripThroughTheirBinaryForm(t *testing.T) {
	want := picturedFrame()
	got, err := DecodeFrame(AppendFrame(nil, want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frame differs (-want +got):\n%s", diff)
	}
	for _, out := range []api.Output{{Lines: want.Lines}, {Picture: &api.Picture{Number: 9, Size: image.Pt(4096, 1), PNG: []byte("png")}}} {
		b, err := AppendOutput(nil, out)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeOutput(b)
		if diff := cmp.Diff(out, got); diff != "" || err != nil {
			t.Errorf("%v, message differs (-want +got):\n%s", err, diff)
		}
	}
}

func TestTruncatedFrameWithPicturesIsAnError(t *testing.T) {
	whole := AppendFrame(nil, picturedFrame())
	plain := AppendFrame(nil, sampleFrame(40, 3))
	for n := range whole {
		if f, err := DecodeFrame(whole[:n]); err == nil && n != len(plain) {
			t.Fatalf("the first %d of %d bytes decode to %+v", n, len(whole), f)
		}
	}
}
