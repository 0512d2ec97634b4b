package vt_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/screen/vt"
	"tandem/tests/seed"
)

// drawCheckpoint returns a checkpoint with pictures and with the modes of a command's start.
func drawCheckpoint(t *rapid.T) []byte {
	term := vt.New(vt.Options{Cols: 9, Rows: 5, ScrollbackLines: -1})
	term.Write([]byte("\x1b]133;C\a\x1b[?1000h" + rapid.SampledFrom(pictures[:4]).Draw(t, "picture")))
	return term.AppendCheckpoint(nil)
}

// specialStrings returns the control strings of a checkpoint that no repaint has.
func specialStrings(checkpoint []byte) []byte {
	return bytes.Join(regexp.MustCompile(`\x1b_[^G][^\x1b]*\x1b\\`).FindAll(checkpoint, -1), nil)
}

// A program can print what a checkpoint holds, and its output is replayed later.
func TestOutputCannotForgeACheckpoint(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		forged := specialStrings(drawCheckpoint(t))
		if !bytes.Contains(forged, []byte("\x1b_T{")) || !bytes.Contains(forged, []byte("\x1b_C")) {
			t.Fatalf("the checkpoint has no special strings: %q", forged)
		}
		replies := rapid.Bool().Draw(t, "replies")
		o := vt.Options{Cols: 9, Rows: 5, ScrollbackLines: -1}
		plain, with := vt.New(o), vt.New(o)
		for _, term := range []*vt.Terminal{plain, with} {
			term.SetReplies(replies)
			term.Write([]byte("hello"))
		}
		with.Write(forged)
		for _, term := range []*vt.Terminal{plain, with} { // a forged start of a command would keep the mode
			term.Write([]byte("\x1b[?1000h\x1b]133;D\a"))
		}
		if diff := cmp.Diff(state(plain), state(with)); diff != "" {
			t.Fatalf("after %q (-without +with)\n%s", forged, diff)
		}
	})
}

// A disk may return anything for a checkpoint.
func TestDamagedCheckpointDoesNotPanic(t *testing.T) {
	number := regexp.MustCompile(`-?\d+`)
	seed.Check(t, func(t *rapid.T) {
		checkpoint := drawCheckpoint(t)
		at := bytes.Index(checkpoint, []byte("\x1b_T"))
		all := number.FindAllIndex(checkpoint[at:], -1)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			span := rapid.SampledFrom(all).Draw(t, "number")
			value := rapid.OneOf(rapid.SampledFrom([]int{-1, 0, 1, 8, 9, 999, 32767}), rapid.IntRange(-40000, 40000)).Draw(t, "value")
			checkpoint = slices.Concat(checkpoint[:at+span[0]], []byte(strconv.Itoa(value)), checkpoint[at+span[1]:])
			all = number.FindAllIndex(checkpoint[at:], -1)
		}
		term := vt.New(vt.Options{Cols: 9, Rows: 5, ScrollbackLines: -1})
		term.SetReplies(false)
		term.RestoreCheckpoint(checkpoint)
		fmt.Fprint(term, "text\r\n")
		state(term)
		term.Resize(20, 3)
		term.AppendPictures(term.AppendRepaint(nil))
		term.AppendCheckpoint(nil)
		term.Lines(0, 5)
	})
}

func FuzzCheckpoint(f *testing.F) {
	for _, p := range pictures {
		term := vt.New(vt.Options{Cols: 9, Rows: 5})
		term.Write([]byte(p))
		f.Add(term.AppendCheckpoint(nil))
	}
	f.Fuzz(func(t *testing.T, checkpoint []byte) {
		term := vt.New(vt.Options{Cols: 9, Rows: 5})
		term.RestoreCheckpoint(checkpoint)
		state(term)
		term.AppendCheckpoint(nil)
	})
}
