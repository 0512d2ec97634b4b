package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

type writeBuffer struct{ bytes.Buffer }

func (*writeBuffer) Close() error { return nil }

func TestFramedMessagesRoundTrip(t *testing.T) {
	sent := []string{"x", "", strings.Repeat("long ", 100_000), "y"}
	for name, split := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "with EOF": iotest.DataErrReader,
	} {
		var b writeBuffer
		conn := NewFramed(split(&b), &b, 1<<20)
		for _, msg := range sent {
			if err := conn.Write([]byte(msg)); err != nil {
				t.Fatal(err)
			}
		}
		var buf []byte
		for _, want := range sent {
			var err error
			if buf, err = conn.Read(buf); err != nil || string(buf) != want {
				t.Errorf("%s: read %d bytes, %v; want %d", name, len(buf), err, len(want))
			}
		}
		if _, err := conn.Read(buf); err != io.EOF {
			t.Errorf("%s: at the end: %v, want io.EOF", name, err)
		}
	}
}

func TestFramedReaderRejectsHostileLengths(t *testing.T) {
	for name, tt := range map[string]struct {
		bytes, want string
	}{
		"beyond the limit":   {"\x00\x00\x04\x01" + strings.Repeat("x", 1025), "a message of 1025 bytes is larger than 1024"},
		"4 GB":               {"\xff\xff\xff\xffx", "a message of 4294967295 bytes is larger than 1024"},
		"a partial message":  {"\x00\x00\x04\x00abc", io.ErrUnexpectedEOF.Error()},
		"a length alone":     {"\x00\x00\x00\x01", io.ErrUnexpectedEOF.Error()},
		"a part of a length": {"\x00\x00", io.ErrUnexpectedEOF.Error()},
	} {
		if msg, err := NewFramed(strings.NewReader(tt.bytes), nil, 1024).Read(nil); err == nil || err.Error() != tt.want {
			t.Errorf("%s: read %q, %v; want %s", name, msg, err, tt.want)
		}
	}
}

// A roomReader records the most room it was given.
type roomReader struct {
	io.Reader
	most int
}

func (r *roomReader) Read(p []byte) (int, error) {
	r.most = max(r.most, len(p))
	return r.Reader.Read(p)
}

func TestFramedReaderMakesRoomOnlyForBytesReceived(t *testing.T) {
	r := &roomReader{Reader: strings.NewReader("\x01\x00\x00\x00" + strings.Repeat("x", 10_000))}
	if _, err := NewFramed(r, nil, MaxOutputMessage).Read(nil); err != io.ErrUnexpectedEOF {
		t.Errorf("Read = %v", err)
	}
	if r.most > 64<<10 {
		t.Errorf("made room for %d bytes", r.most)
	}
}

func FuzzFramedReader(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01x\x00\x00\x00\x00\x00\x00\x00\x02ab"))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		conn := NewFramed(iotest.HalfReader(bytes.NewReader(sent)), nil, 1024)
		var again writeBuffer
		copied := NewFramed(nil, &again, 0)
		for {
			msg, err := conn.Read(nil)
			if err != nil {
				if !bytes.HasPrefix(sent, again.Bytes()) || errors.Is(err, io.EOF) && len(sent) != again.Len() {
					t.Errorf("of %q, %q was read before %v", sent, again.Bytes(), err)
				}
				return
			}
			if len(msg) > 1024 {
				t.Fatalf("a message of %d bytes", len(msg))
			}
			if err := copied.Write(msg); err != nil {
				t.Fatal(err)
			}
		}
	})
}
