package vt_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The flags let bench/pty.sh write the streams to files.
var (
	streamDir  = flag.String("streams", "", "write the streams of the benchmarks to this folder")
	streamSize = flag.Int("stream-size", 1<<20, "their size in bytes")
)

// A stream is an input made of many pieces.
type stream struct {
	name string
	make func(cols, rows int, b *bytes.Buffer, r *rand.Rand)
}

// streams are the inputs of the throughput benchmarks, modelled on programs with much output.
var streams = []stream{
	{"yes", func(_, _ int, b *bytes.Buffer, _ *rand.Rand) { b.WriteString("y\r\n") }},
	{"log", logLine},
	{"color", colorLine},
	{"utf8", utf8Line},
	{"redraw", redraw},
	{"region", regionLine},
}

// makeStream returns at least size bytes, the same on every call.
func makeStream(size, cols, rows int, make func(cols, rows int, b *bytes.Buffer, r *rand.Rand)) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for b.Len() < size {
		make(cols, rows, &b, r)
	}
	return b.Bytes()
}

func logLine(_, _ int, b *bytes.Buffer, r *rand.Rand) {
	fmt.Fprintf(b, "2026-11-20T16:%02d:%02d.%03dZ INFO server handled request id=%08x path=/v1/items/%d status=200 in %dus\r\n",
		r.IntN(60), r.IntN(60), r.IntN(1000), r.Uint32(), r.IntN(10000), r.IntN(100000))
}

func colorLine(cols, _ int, b *bytes.Buffer, r *rand.Rand) {
	for range cols / 5 {
		switch r.IntN(3) {
		case 0:
			fmt.Fprintf(b, "\x1b[%dm%04x", 31+r.IntN(7), r.IntN(65536))
		case 1:
			fmt.Fprintf(b, "\x1b[1;38;5;%dm%04x", r.IntN(256), r.IntN(65536))
		default:
			fmt.Fprintf(b, "\x1b[0;38;2;%d;%d;%dm%04x", r.IntN(8)*32, r.IntN(8)*32, r.IntN(8)*32, r.IntN(65536))
		}
		b.WriteString("\x1b[0m ")
	}
	b.WriteString("\r\n")
}

func utf8Line(cols, _ int, b *bytes.Buffer, r *rand.Rand) {
	for n := 0; n < cols-4; n += 2 {
		switch r.IntN(12) {
		case 0:
			b.WriteRune(rune(0x1F600 + r.IntN(64)))
		case 1:
			b.WriteString("éü")
		case 2:
			b.WriteString("→ ")
		default:
			b.WriteRune(rune(0x4E00 + r.IntN(0x2000)))
		}
	}
	b.WriteString("\r\n")
}

func redraw(cols, rows int, b *bytes.Buffer, r *rand.Rand) {
	b.WriteString("\x1b[H")
	for y := range rows {
		fmt.Fprintf(b, "\x1b[%d;1H\x1b[%dm%-*d\x1b[0m\x1b[K", y+1, 30+r.IntN(8), cols-10, r.IntN(1e9))
	}
}

func regionLine(_, rows int, b *bytes.Buffer, r *rand.Rand) {
	fmt.Fprintf(b, "\x1b[3;%dr\x1b[%d;1H\nline %d of the part that scrolls\x1b[r\x1b[%d;1Hstatus %d\x1b[K",
		rows-2, rows-2, r.IntN(1e6), rows, r.IntN(1e6))
}

func TestStreamsAreDeterministic(t *testing.T) {
	for _, s := range slices.Concat(streams, classes) {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			data := makeStream(*streamSize, size[0], size[1], s.make)
			if !bytes.Equal(data, makeStream(*streamSize, size[0], size[1], s.make)) {
				t.Errorf("%s at %d×%d differs from one time to the next", s.name, size[0], size[1])
			}
			if *streamDir == "" {
				continue
			}
			name := fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1])
			if err := os.WriteFile(filepath.Join(*streamDir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
