package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeKeeper listens like a keeper. It replies to each message with the result of answer, or not at
// all if that is "".
func fakeKeeper(t *testing.T, answer func(m message) string) (socket string) {
	t.Helper()
	socket = filepath.Join(socketDir(t), "keeper.sock")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: socket, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			for buffer := make([]byte, maxPacket); ; {
				n, err := c.Read(buffer)
				var m message
				if err != nil || json.Unmarshal(buffer[:n], &m) != nil {
					break
				}
				if text := answer(m); text != "" {
					_, _ = c.Write([]byte(text))
				}
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return socket
}

// bounded returns a context that ends after a minute, so that a hanging call fails the test.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestDialReportsKeeperOfAnotherProtocol(t *testing.T) {
	for name, text := range map[string]string{
		"newer":       `{"v":2,"id":%d,"op":"reply","what":{"is":"new"}}`,
		"older":       `{"v":0,"id":%d,"op":"reply","error":"message has version 1, the keeper speaks 0"}`,
		"other types": `{"v":2,"id":%d,"op":"reply","pid":"seven"}`,
	} {
		t.Run(name, func(t *testing.T) {
			socket := fakeKeeper(t, func(m message) string { return fmt.Sprintf(text, m.ID) })
			c, err := Dial(bounded(t), socket)
			if err == nil {
				c.Close()
			}
			if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), fmt.Sprintf("(pid %d)", os.Getpid())) {
				t.Errorf("Dial = %v", err)
			}
			if err := wakeAt(bounded(t), socket); !errors.Is(err, ErrVersion) {
				t.Errorf("wake = %v", err)
			}
		})
	}
}

func TestInvalidReplyFailsItsCall(t *testing.T) {
	socket := fakeKeeper(t, func(m message) string {
		if m.Op == opHello {
			return fmt.Sprintf(`{"v":1,"id":%d,"op":"reply"}`, m.ID)
		}
		return fmt.Sprintf(`{"v":1,"id":%d,"op":"reply","children":7}`, m.ID)
	})
	c, err := Dial(bounded(t), socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.List(bounded(t)); err == nil || !strings.Contains(err.Error(), "not understood") {
		t.Errorf("List = %v", err)
	}
	if err := c.Forget(bounded(t), "x"); err == nil || errors.Is(err, ErrLost) {
		t.Errorf("Forget = %v", err)
	}
}

func TestUnresponsiveKeeperDoesNotBlockTheEngine(t *testing.T) {
	silent := fakeKeeper(t, func(message) string { return "" })
	d := Dialer{Timeout: 10 * time.Millisecond}
	if c, err := d.Dial(t.Context(), silent); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "10ms") {
		t.Errorf("Dial = %v, %v", c, err)
	}
	half := fakeKeeper(t, func(m message) string {
		if m.Op == opHello {
			return fmt.Sprintf(`{"v":1,"id":%d,"op":"reply"}`, m.ID)
		}
		return ""
	})
	c, err := Dialer{Timeout: time.Minute}.Dial(t.Context(), half)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.timeout = 10 * time.Millisecond
	if err := c.Ready(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Ready = %v", err)
	}
}

// socketDir returns a temporary folder whose path leaves room for a socket's name.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
